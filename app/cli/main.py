"""The command line. Heavy things are imported by the command that needs them."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from app.cli import bench as measure
from app.cli import evaluate as pocket_commands
from app.cli import models as catalogue_commands
from app.cli.model_options import add_model_options, choose, model_words, settings_of
from app.cli.progress import ProgressLine
from app.options import Choice, ChoiceError
from app.storage.paths import data_folder
from engine.assets import FOLDER
from engine.models.interface import ModelSpec
from engine.runtime.keymap import load_keymap
from engine.runtime.script import Script, ScriptError, parse_script
from engine.runtime.session import Settings

BAD_INPUT = 2
FAILED = 1


class UserError(Exception):
    """One clear line for the person; exit status 2."""


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """One line instead of the whole usage."""
        self.exit(BAD_INPUT, f"foreland: {message} (see `{self.prog} --help`)\n")


def build_parser() -> argparse.ArgumentParser:
    parser = Parser(prog="foreland", description="Explore worlds that a video diffusion model makes up as you go.")
    commands = parser.add_subparsers(dest="command", parser_class=Parser)

    run = commands.add_parser("run", help="open the window (the default)")
    add_model_options(run)
    run.add_argument("--prompt", help="the world to begin with")
    run.add_argument("--session", type=Path, help="folder of the session log (default: in your data folder)")
    run.add_argument(
        "--sound", choices=("system", "null", "off"), default="system", help="device; null: one that nobody hears"
    )
    run.add_argument("--overlay", action="store_true", help="begin with the speculation overlay shown")

    explore = commands.add_parser("explore", help="explore without a window, by a key script")
    add_model_options(explore)
    explore.add_argument("--script", type=Path, help="JSON script of keys and prompts (default: the bundled one)")
    explore.add_argument("--out", type=Path, default=Path("world.mp4"), help="film to write (default: %(default)s)")
    explore.add_argument("--session", type=Path, help="folder for events.jsonl and summary.json")
    explore.add_argument("--seconds", type=float, help="seconds of film (default: the script's)")
    explore.add_argument("--raw", type=Path, help="also write the shown frames, losslessly, to this .npy")
    explore.add_argument(
        "--assume-call",
        type=float,
        metavar="S",
        help="virtual time: every call is said to take S seconds, so that equal runs give equal frames",
    )

    soak = commands.add_parser(
        "soak", help="drive the real window with random input for a long time and judge what is seen"
    )
    add_model_options(soak)
    soak.add_argument("--minutes", type=float, default=60.0)
    soak.add_argument(
        "--speed", choices=("real", "rude"), default="real", help="of the input: a person's, or four times that"
    )
    soak.add_argument("--json", type=Path, help="write the report to this file")

    measure.add_commands(commands)
    catalogue_commands.add_commands(commands)
    pocket_commands.add_commands(commands)
    commands.add_parser("doctor", help="say what works on this machine and what to install")
    return parser


def main(argv: list[str] | None = None) -> int:
    """Runs a command and returns its exit status."""
    arguments = sys.argv[1:] if argv is None else argv
    if not arguments or (arguments[0].startswith("-") and arguments[0] not in ("-h", "--help")):
        arguments = ["run", *arguments]
    args = build_parser().parse_args(arguments)
    logging.basicConfig(level=os.environ.get("FORELAND_LOG", "WARNING").upper(), format="%(name)s: %(message)s")
    try:
        return COMMANDS[args.command](args)
    except (
        UserError,
        ChoiceError,
        ScriptError,
        measure.MeasureError,
        catalogue_commands.ModelsError,
        pocket_commands.EvaluateError,
    ) as e:
        print(f"foreland: {e}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("foreland: stopped; what was recorded is kept", file=sys.stderr)
        return 130


def load_script(path: Path | None) -> Script:
    """Raises ScriptError or UserError."""
    keymap = load_keymap()
    try:
        text = path.read_text(encoding="utf-8") if path else (FOLDER / "demo-script.json").read_text("utf-8")
    except (OSError, UnicodeDecodeError) as e:
        raise UserError(f"cannot read the script {path}: {e}") from e
    return parse_script(text, keymap)


def explore(args: argparse.Namespace) -> int:
    """`foreland explore`."""
    import numpy as np

    from engine.playback.player import Frame, Samples
    from engine.playback.recorder import Recorder, RecordingError
    from engine.runtime.headless import HeadlessError, explore_live, explore_virtual

    script = load_script(args.script)
    if args.seconds is not None:
        if not 0 < args.seconds <= 24 * 3600:
            raise UserError(f"--seconds {args.seconds:g} is out of range: more than 0, at most 86400")
        script = Script(script.prompt, args.seconds, script.events)
    if args.assume_call is not None and not 0 < args.assume_call <= 60:
        raise UserError(f"--assume-call {args.assume_call:g} is out of range: more than 0, at most 60")
    choice = choose(args)
    spec, load = choice.spec, choice.load
    settings = settings_of(args, script.prompt, spec)
    _advise(spec, settings)
    raw: list[Frame] = []
    progress = ProgressLine()
    try:
        if args.raw:
            args.raw.parent.mkdir(parents=True, exist_ok=True)
            args.raw.open("wb").close()
        recorder = Recorder(args.out, spec.width, spec.height, spec.fps, rate=spec.sound_rate)
    except (RecordingError, OSError) as e:
        raise UserError(str(e)) from e

    def show(frame: Frame, sound: Samples | None) -> None:
        recorder.add(frame, sound)
        if args.raw:
            raw.append(frame)

    failure: Exception | None = None
    try:
        if args.assume_call is None:
            summary = explore_live(load, spec, settings, script, args.session, show, progress)
        else:
            summary = explore_virtual(load, spec, settings, script, args.session, show, progress, args.assume_call)
    except (HeadlessError, RuntimeError, ValueError, OSError) as e:
        failure = e
    finally:
        progress.end()
        try:
            recorder.close()
        except RecordingError as e:
            failure = failure or e
        if args.raw:
            shape = (0, spec.height, spec.width, 3)
            np.save(args.raw, np.stack(raw) if raw else np.zeros(shape, np.uint8))
    if failure is not None:
        raise UserError(f"{failure}; what was recorded until then is in {args.out}")
    print(_sentence(summary))
    print(args.out.resolve())
    return 0


def _advise(spec: ModelSpec, settings: Settings) -> None:
    """What to know of a model and of these settings, once, on the terminal."""
    for note in (*spec.notes, spec.advice(settings.window or spec.window)):
        if note:
            print(f"foreland: {spec.name}: {note}", file=sys.stderr)


def _sentence(s: dict) -> str:
    l50 = "no update" if s["L50"] is None else f"L50 {s['L50']:.2f} s over {len(s['updates']) - 1} updates"
    return (
        f"{s['frames_shown']} frames at {s['fps']:g} fps, {l50}, stalled {s['stall_seconds']:.2f} s, "
        f"{s['discarded_share']:.0%} of the predictions revoked"
    )


def has_display() -> bool:
    """Whether a window can be opened."""
    if sys.platform in ("win32", "darwin"):
        return True
    platform = os.environ.get("QT_QPA_PLATFORM", "")
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or platform in ("offscreen", "vnc"))


def new_session() -> Path:
    """A folder for a session's log."""
    return data_folder() / "sessions" / time.strftime("%Y-%m-%d-%H%M%S")


def run_window(args: argparse.Namespace) -> int:
    """`foreland run`: the window, or a headless film where there is no display."""
    script = load_script(None)
    prompt = args.prompt if args.prompt is not None else script.prompt
    if not prompt.strip():
        raise UserError("the prompt is empty: say what the world should be")
    choice = choose(args)
    settings = settings_of(args, prompt, choice.spec)
    folder = args.session or new_session()
    if not has_display():
        print("foreland: no display here: exploring with the bundled key script instead", file=sys.stderr)
        words = ["explore", "--out", str(folder / "world.mp4"), "--session", str(folder), "--seed", str(args.seed)]
        words += ["--commit", args.commit, *model_words(args)]
        for name in ("window", "steps", "history"):
            if getattr(args, name) is not None:
                words += [f"--{name}", str(getattr(args, name))]
        return explore(build_parser().parse_args(words))
    from app.window.main_window import open_window

    try:

        def another(name: str) -> Choice:
            return choose(
                argparse.Namespace(**{**vars(args), "model": name, "like": None, "size": None, "weights": None})
            )

        return open_window(choice, settings, folder, args.overlay, another, new_session, data_folder(), args.sound)
    except OSError as e:
        raise UserError(f"the session log cannot be written to {folder}: {e}") from e


def soak(args: argparse.Namespace) -> int:
    """`foreland soak`: status 0 when every aim is met."""
    import json
    import tempfile

    if not 0.2 <= args.minutes <= 24 * 60:
        raise UserError(f"--minutes {args.minutes:g} is out of range: 0.2 to 1440")
    choice = choose(args)
    if not has_display():
        print("foreland: no display here: the window is drawn offscreen", file=sys.stderr)
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from app.cli.soak import soak as run

    with tempfile.TemporaryDirectory(prefix="foreland-soak-") as home:
        rude = 4.0 if args.speed == "rude" else 1.0
        try:
            report = run(choice, args.minutes, rude, args.seed, Path(home), lambda line: print(line, flush=True))
        except RuntimeError as e:
            raise UserError(f"the soak ended early: {e}") from e
    for name, row in report.items():
        if isinstance(row, dict) and "aim" in row:
            print(f"{'ok  ' if row['ok'] else 'no  '} {name}: {row['value']} (aim: {row['aim']})")
    print("ok" if report["ok"] else "not every aim was met")
    if args.json:
        args.json.parent.mkdir(parents=True, exist_ok=True)
        args.json.write_text(json.dumps(report, indent=2) + "\n")
    return 0 if report["ok"] else FAILED


def doctor(args: argparse.Namespace) -> int:
    """`foreland doctor`."""
    from app.cli.doctor import checks

    bad = 0
    for check in checks(has_display()):
        print(f"{'ok  ' if check.works else 'no  '} {check.name}: {check.finding}")
        if not check.works:
            print(f"      {check.advice}")
            bad += check.needed
    return FAILED if bad else 0


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "run": run_window,
    "explore": explore,
    "simulate": measure.run_simulate,
    "bench": measure.run_bench,
    "replay": measure.run_replay,
    "models": catalogue_commands.run_models,
    "evaluate": pocket_commands.run_evaluate,
    "soak": soak,
    "doctor": doctor,
}
