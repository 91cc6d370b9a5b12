"""The measuring commands: simulate, replay, bench."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from app.cli.model_options import add_model_options, choose
from app.options import Choice
from engine.assets import FOLDER
from engine.control.controller import Commit
from engine.measure.simulate import (
    UPDATES,
    Profile,
    ProfileError,
    load_profiles,
    protocol_range,
    simulate,
    uniform_profile,
)
from engine.models.registry import default_threads, pocket_folder
from engine.runtime.replay import ReplayError, read_session, replay

COLUMNS = (
    ("profile", "profile"),
    ("policy", "policy"),
    ("rate", "rate"),
    ("updates", "n"),
    ("L50", "L50"),
    ("L95", "L95"),
    ("mean", "mean"),
    ("interval", "95 % of mean"),
    ("theory_mean", "theory"),
    ("paper_L50", "paper L50"),
    ("range", "5-95 % of 30"),
    ("stall_share", "stall"),
    ("attainment", "in time"),
    ("w", "w"),
    ("A", "A"),
    ("A_theory", "A theory"),
    ("busy_share", "busy"),
    ("superseded", "superseded"),
)


class MeasureError(ValueError):
    """Bad input of a measuring command, in one line."""


def add_commands(commands: Any) -> None:
    """Adds the parsers."""
    p = commands.add_parser("simulate", help="the controller in virtual time, against theory and the paper")
    p.add_argument("--profile", help="comma-separated names of assets/profiles.json, or all (default: all)")
    p.add_argument("--policy", default="speculative,chunk", help="comma-separated (default: %(default)s)")
    p.add_argument(
        "--rate", default="low,high", help="low, high or both: updates as in the paper (default: %(default)s)"
    )
    p.add_argument("--trajectories", type=int, default=30)
    p.add_argument("--seconds", type=float, default=60.0)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--window", type=int, metavar="K", help="without a profile: groups of a call")
    p.add_argument("--delta", type=float, metavar="S", help="seconds of a group")
    p.add_argument("--first", type=float, metavar="S", help="C: seconds to the first group")
    p.add_argument("--call", type=float, metavar="S", help="seconds of a whole call (default: C)")
    p.add_argument("--jitter", type=float, default=0.0, metavar="S", help="standard deviation of C, seconds")
    p.add_argument("--update-rate", type=float, metavar="PER_S", help="Poisson updates a second, instead of --rate")
    p.add_argument(
        "--ranges", action="store_true", help="also the 5 to 95 %% range of L50 over the 30-trajectory protocol"
    )
    p.add_argument(
        "--map", action="store_true", help="a map of L50, stalls and A over K, C and the update rate instead"
    )
    p.add_argument("--json", type=Path, metavar="FILE")
    p = commands.add_parser("bench", help="live measurements on this machine")
    p.add_argument("what", choices=["serve", "sampler", "decode", "window", "controller", "shapes", "scaling"])
    add_model_options(p, sampling=False)
    p.add_argument("--window", default="7,21", help="serve, sampler: comma-separated K (default: %(default)s)")
    p.add_argument("--policy", default="speculative,chunk", help="serve: comma-separated (default: %(default)s)")
    p.add_argument("--rate", default="low,high", help="serve: comma-separated (default: %(default)s)")
    p.add_argument("--trajectories", type=int, default=2, help="serve: of each setting (default: %(default)s)")
    p.add_argument(
        "--seconds", type=float, default=30.0, help="serve, window: of one trajectory (default: %(default)s)"
    )
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--steps", type=int, default=4, help="sampler: denoising steps (default: %(default)s)")
    p.add_argument("--sizes", default="480p,720p", help="shapes: comma-separated (default: %(default)s)")
    p.add_argument("--layers", type=int, help="shapes: fewer layers than Wan-1.3B's 30, to try it on a small machine")
    p.add_argument("--repeats", type=int, default=7, help="sampler, decode: timed repetitions (default: %(default)s)")
    p.add_argument("--events", type=int, default=1_000_000, help="controller: events (default: %(default)s)")
    p.add_argument(
        "--out", type=Path, default=Path("bench"), help="serve: folder for the report (default: %(default)s)"
    )
    p.add_argument("--json", type=Path, metavar="FILE", help="the other benches: also write the figures there")
    p = commands.add_parser(
        "replay", help="feed a session's event log to the controller again, or make its world again"
    )
    p.add_argument("--film", type=Path, help="make every call again too, compare each group, and write the film")
    p.add_argument("--model", help="name or folder of the model, where it is not the one that the session names")
    p.add_argument("--device", default="auto", help="cpu, cuda, cuda:1 or auto")
    p.add_argument("session", type=Path, help="session folder")
    p.add_argument("--check", action="store_true", help="say whether the commands are the same (always done)")


def _profiles(args: argparse.Namespace) -> list[Profile]:
    numbers = (args.window, args.delta, args.first)
    if any(x is not None for x in numbers):
        if args.profile or any(x is None for x in numbers):
            raise MeasureError("give --window, --delta and --first together, and no --profile")
        if args.first <= 0 or args.window < 1:
            raise MeasureError("--first must be more than 0 and --window at least 1")
        call = args.first if args.call is None else args.call
        return [uniform_profile(args.window, args.delta, args.first, call, args.jitter / args.first)]
    known = load_profiles()
    names = list(known) if args.profile in (None, "all") else args.profile.split(",")
    missing = [n for n in names if n not in known]
    if missing:
        raise MeasureError(f"unknown profile {missing[0]!r}; known: {', '.join(known)}")
    return [known[n] for n in names]


def _choices(text: str, known: list[str], what: str) -> list[str]:
    names = text.split(",")
    for n in names:
        if n not in known:
            raise MeasureError(f"unknown {what} {n!r}; known: {', '.join(known)}")
    return names


def run_simulate(args: argparse.Namespace) -> int:
    """`foreland simulate`."""
    if args.trajectories < 1 or args.seconds <= 2 or args.seed < 0:
        raise MeasureError("--trajectories must be at least 1, --seconds more than 2 and --seed at least 0")
    if args.update_rate is not None and args.update_rate < 0:
        raise MeasureError("--update-rate must not be negative")
    try:
        if args.map:
            rows = _map(args)
        else:
            profiles = _profiles(args)
            policies = [Commit(x) for x in _choices(args.policy, [c.value for c in Commit], "policy")]
            rates: list[str | float] = list(_choices(args.rate, list(UPDATES), "rate"))
            if args.update_rate is not None:
                rates = [args.update_rate]
            rows = []
            for profile in profiles:
                for rate in rates:
                    for policy in policies:
                        row = simulate(profile, policy, rate, args.trajectories, args.seconds, args.seed)
                        if args.ranges and isinstance(rate, str):
                            row["range_low"], row["range_high"] = protocol_range(
                                profile, policy, rate, args.seconds, args.seed
                            )
                        rows.append(row)
    except ProfileError as e:
        raise MeasureError(str(e)) from e
    print(table(rows))
    if args.json:
        try:
            args.json.parent.mkdir(parents=True, exist_ok=True)
            args.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n", encoding="utf-8")
        except OSError as e:
            raise MeasureError(f"cannot write {args.json}: {e.strerror}") from e
    return 0


def _map(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Settings that the paper does not list: K, C and updates a minute, at Wan's group of 0.25 s."""
    rows = []
    for k in (3, 7, 14, 21):
        for share in (0.15, 0.3, 0.6, 0.9):
            profile = uniform_profile(k, 0.25, share * k / 4, share * k / 4)
            for minute in (1.5, 7, 30):
                row = simulate(profile, Commit.SPECULATIVE, minute / 60, args.trajectories, args.seconds, args.seed)
                row["profile"] = f"K={k} C/T={share:g}"
                rows.append(row)
    return rows


def _cell(row: dict[str, Any], key: str) -> str:
    if key == "interval":
        return "-" if row["mean_low"] is None else f"{row['mean_low']:.2f} to {row['mean_high']:.2f}"
    if key == "range":
        return "-" if "range_low" not in row else f"{row['range_low']:.2f} to {row['range_high']:.2f}"
    value = row[key]
    if value is None:
        return "-"
    if isinstance(value, list):
        return " to ".join(f"{x:.2f}" for x in value)
    if key in ("stall_share", "w", "busy_share", "attainment"):
        return f"{value:.2%}"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def table(rows: list[dict[str, Any]]) -> str:
    """Rows as a Markdown table; columns without any value are left out."""
    cells = [[_cell(r, key) for key, _ in COLUMNS] for r in rows]
    used = [i for i in range(len(COLUMNS)) if any(c[i] != "-" for c in cells)]
    widths = [max(len(COLUMNS[i][1]), *(len(c[i]) for c in cells)) for i in used]
    lines = ["| " + " | ".join(COLUMNS[i][1].ljust(w) for i, w in zip(used, widths, strict=True)) + " |"]
    lines.append("| " + " | ".join("-" * w for w in widths) + " |")
    lines += ["| " + " | ".join(c[i].ljust(w) for i, w in zip(used, widths, strict=True)) + " |" for c in cells]
    return "\n".join(lines)


def run_bench(args: argparse.Namespace) -> int:
    """`foreland bench`."""
    if args.trajectories < 1 or args.seconds < 5 or args.repeats < 1 or args.events < 1000 or args.seed < 0:
        raise MeasureError(
            "--trajectories and --repeats must be at least 1, --seconds at least 5, --events at least 1000"
        )
    try:
        choice = choose(argparse.Namespace(**{**vars(args), "gpus": "1"}) if args.what == "scaling" else args)
        windows = [int(x) for x in args.window.split(",")]
        for k in windows:
            choice.spec.check_window(k)
    except ValueError as e:
        raise MeasureError(str(e)) from e
    if args.what == "serve":
        return _serve(args, choice, windows)
    from engine.measure import bench_serving as bench

    folder = args.weights or pocket_folder()
    if args.what == "controller":
        figures: Any = bench.controller_events(args.events)
    elif args.what == "window":
        from app.cli.bench_window import measure

        try:
            figures = [measure(choice, args.seconds, *how) for how in ((False, False), (True, False), (False, True))]
        except RuntimeError as e:
            raise MeasureError(f"the window could not be measured: {e}") from e
    else:
        import torch

        torch.set_num_threads(args.threads or default_threads())
        if args.what == "scaling":
            figures = _scaling(args, windows)
        elif args.what == "shapes":
            figures = _shapes(args, windows)
        elif args.model != "pocket":
            figures = _wan(args, choice, windows)
        elif args.what == "sampler":
            figures = bench.sampler_pocket(folder, windows, args.steps, args.repeats)
        else:
            figures = bench.decode_pocket(folder, 14, args.repeats)
    rows = figures if isinstance(figures, list) else [figures]
    names = list(rows[0])
    print("| " + " | ".join(names) + " |")
    print("| " + " | ".join("---" for _ in names) + " |")
    for row in rows:
        print("| " + " | ".join(f"{row[n]:.4g}" if isinstance(row[n], float) else str(row[n]) for n in names) + " |")
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps({"machine": bench.machine(), "rows": rows}, indent=2) + "\n", encoding="utf-8")
    return 0


def _wan(args: argparse.Namespace, choice: Choice, windows: list[int]) -> Any:
    """`bench sampler` and `bench decode` of a model other than the pocket world."""
    from engine.measure import bench_audio_video as joint
    from engine.measure import bench_wan as bench

    try:
        model = choice.load(lambda stage, share: None)
        if model.spec.sound_rate:
            if args.what == "sampler":
                return joint.sampler(model, windows, args.steps, args.repeats)
            return joint.decode(model, model.spec.nearest_window(model.spec.window), args.repeats)
        if args.what == "sampler":
            return bench.sampler(model, windows, args.steps, args.repeats)
        return bench.decode(model, 8, args.repeats)
    except (RuntimeError, ValueError) as e:
        raise MeasureError(str(e)) from e


def _shapes(args: argparse.Namespace, windows: list[int]) -> Any:
    """`bench shapes`: Wan-1.3B's true shapes with random weights, beside the paper's table."""
    from engine.measure import bench_wan as bench
    from engine.models.load_options import LoadOptions
    from engine.models.wan.load import torch_device, torch_dtype

    sizes = _choices(args.sizes, list(bench.SIZES), "size")
    options = LoadOptions(device=args.device, dtype=args.dtype)
    try:
        device = torch_device(options)
        return bench.shapes(device, torch_dtype(options, device), windows, sizes, args.repeats, args.layers)
    except (RuntimeError, ValueError) as e:
        raise MeasureError(str(e)) from e


def _scaling(args: argparse.Namespace, windows: list[int]) -> Any:
    """`bench scaling`: the model beside the paper's figures or, with --gpus, forwards on that many."""
    from engine.measure import scaling

    if args.gpus == "1":
        return scaling.table(windows)
    sizes = _choices(args.sizes, list(scaling.TOKENS), "size")
    kind = "cpu" if args.device == "cpu" else "cuda"
    layers = args.layers or scaling.LAYERS
    try:
        return scaling.measure(int(args.gpus), args.split, kind, sizes, windows, args.repeats, layers)
    except (RuntimeError, ValueError) as e:
        raise MeasureError(str(e)) from e


def _serve(args: argparse.Namespace, choice: Choice, windows: list[int]) -> int:
    from app.cli.progress import ProgressLine
    from engine.measure import bench_serving as bench
    from engine.measure import plots

    policies = [Commit(x) for x in _choices(args.policy, [c.value for c in Commit], "policy")]
    rates = _choices(args.rate, list(UPDATES), "rate")
    settings = [bench.Setting(k, policy, rate) for k in windows for policy in policies for rate in rates]
    prompts = json.loads((FOLDER / "presets.json").read_text("utf-8"))
    try:
        args.out.mkdir(parents=True, exist_ok=True)
    except OSError as e:
        raise MeasureError(f"cannot write to {args.out}: {e.strerror}") from e
    progress = ProgressLine()
    report = bench.serve(
        choice.load, choice.spec, settings, args.trajectories, args.seconds, args.seed, prompts, args.out, progress
    )
    progress.end()
    report["machine"] = bench.machine()
    command = (
        f"foreland bench serve --model {args.model} --window {args.window} --policy {args.policy} --rate {args.rate} "
        f"--trajectories {args.trajectories} --seconds {args.seconds:g} --seed {args.seed} --out {args.out}"
    )
    text = bench.serve_markdown(report, command)
    (args.out / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    drawn = plots.draw(report, args.out)
    text += "\n" + "\n".join(f"![{f.stem}]({f.name})" for f in drawn) + "\n"
    (args.out / "report.md").write_text(text, encoding="utf-8")
    print(text)
    print(args.out.resolve() / "report.md")
    return 0


def run_replay(args: argparse.Namespace) -> int:
    """`foreland replay`: status 0 when the commands are the same, 1 when they differ."""
    try:
        result = replay(args.session)
    except ReplayError as e:
        raise MeasureError(str(e)) from e
    if result.difference:
        print(f"different after {result.events} events: {result.difference}")
        return 1
    print(f"the same: {result.events} events gave the same {result.commands} commands")
    return 0 if args.film is None else _film_again(args)


def _film_again(args: argparse.Namespace) -> int:
    """Makes the session's world again; status 0 when it is the same bit for bit."""
    from engine.models.load_options import LoadOptions
    from engine.models.registry import loader, spec_of
    from engine.playback.recorder import Recorder, RecordingError
    from engine.runtime.regenerate import regenerate

    try:
        lines = read_session(args.session)
        name = args.model or lines[0]["model"]
        spec = spec_of(name)
        model = loader(name, LoadOptions(device=args.device))(lambda stage, share: None)
        recorder = Recorder(args.film, spec.width, spec.height, spec.fps, rate=spec.sound_rate)
        try:
            result = regenerate(lines, model, recorder.add)
        finally:
            recorder.close()
    except (ReplayError, RecordingError, ValueError, OSError) as e:
        raise MeasureError(str(e)) from e
    same = not result.different
    print(
        f"{result.groups} groups made again: "
        + ("the same bit for bit" if same else f"{result.different} differ, first {result.first}")
    )
    for what in result.machine:
        print(f"  {what}")
    print(args.film.resolve())
    return 0 if same else 1
