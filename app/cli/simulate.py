"""`foreland simulate`: the controller in virtual time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from app.cli.errors import UserError, as_user_error
from app.cli.parameters import FILE, Listed, Number, Whole
from app.cli.report import write_json
from engine.measure.people import simulate_people
from engine.measure.simulate import (
    KEYS,
    METHODS,
    UPDATES,
    Profile,
    ProfileError,
    load_profiles,
    protocol_range,
    uniform_profile,
)
from engine.measure.simulate import (
    simulate as trajectories_of,
)

COLUMNS = (
    ("profile", "profile"),
    ("policy", "policy"),
    ("rate", "rate"),
    ("people", "people"),
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
    ("waste", "made/shown"),
    ("busy_share", "busy"),
    ("preempted", "stopped a min"),
    ("alternatives", "guesses a min"),
    ("came_true", "came true"),
    ("superseded", "superseded"),
)
"""Of a row of `engine.measure.simulate`, and its heading."""
BEYOND = ("paper", "answer", "preempt", "answer+preempt", "alternative", "all")
"""The paper's method and what goes beyond it. `all` among other names is the method that does all of it; alone it is every row."""


@dataclass(frozen=True)
class Numbers:
    """A model by numbers alone, in seconds, instead of a profile."""

    window: int | None
    delta: float | None
    first: float | None
    call: float | None
    jitter: float

    def profiles(self, names: str | None) -> list[Profile]:
        """Of these numbers or, where none is given, by name. Raises UserError or ProfileError."""
        if self.window is self.delta is self.first is None:
            known = load_profiles()
            chosen = list(known) if names in (None, "all") else str(names).split(",")
            if missing := [n for n in chosen if n not in known]:
                raise UserError(f"unknown profile {missing[0]!r}; known: {', '.join(known)}")
            return [known[n] for n in chosen]
        if names or self.window is None or self.delta is None or self.first is None:
            raise UserError("give --window, --delta and --first together, and no --profile")
        call = self.first if self.call is None else self.call
        return [uniform_profile(self.window, self.delta, self.first, call, self.jitter / self.first)]


@click.command()
@click.option("--profile", metavar="NAME,...", help="Names of assets/profiles.json, or all.  [default: all]")
@click.option(
    "--policy",
    type=Listed(click.Choice(list(METHODS))),
    default="speculative,chunk",
    help="What decides: the paper's method, the chunk baseline, or what goes beyond the paper; all alone: each of these in a row.",
)
@click.option(
    "--rate",
    type=Listed(click.Choice([*UPDATES, KEYS])),
    default="low,high",
    help="Updates as often as in the paper, or a person's keys.",
)
@click.option("--trajectories", type=Whole(min=1), default=30, help="Of each setting.")
@click.option("--seconds", type=Number(2, min_open=True), default=60.0, help="Of one trajectory.")
@click.option("--seed", type=Whole(min=0), default=0, help="Of all updates and jitter.")
@click.option("--window", type=Whole(min=1), metavar="K", help="Without a profile: groups of a call.")
@click.option("--delta", type=Number(0, min_open=True), metavar="S", help="Seconds of a group.")
@click.option("--first", type=Number(0, min_open=True), metavar="S", help="C: seconds to the first group.")
@click.option("--call", type=Number(0, min_open=True), metavar="S", help="Seconds of a whole call.  [default: C]")
@click.option("--jitter", type=Number(0), default=0.0, metavar="S", help="Standard deviation of C, seconds.")
@click.option("--update-rate", type=Number(0), metavar="PER_S", help="Poisson updates a second, instead of --rate.")
@click.option(
    "--people",
    type=Whole(1, 64),
    metavar="N",
    help="So many people on one sampler, whose calls are granted one by one.",
)
@click.option(
    "--masher",
    type=Number(0),
    default=0.0,
    metavar="PER_S",
    help="With --people: updates a second of one who is not in the figures.",
)
@click.option("--ranges", is_flag=True, help="Also the 5 to 95 % range of L50 over the 30-trajectory protocol.")
@click.option("--map", "a_map", is_flag=True, help="A map of L50, stalls and A over K, C and the update rate instead.")
@click.option("--json", "json_file", type=FILE, metavar="FILE", help="Also write the rows there.")
def simulate(
    profile: str | None,
    policy: list[str],
    rate: list[str],
    trajectories: int,
    seconds: float,
    seed: int,
    update_rate: float | None,
    ranges: bool,
    a_map: bool,
    people: int | None,
    masher: float,
    json_file: Path | None,
    **numbers: Any,
) -> int:
    """The controller in virtual time, against theory and the paper."""
    rows = []
    with as_user_error(ProfileError):
        if a_map:
            rows = _map(trajectories, seconds, seed)
        else:
            if people is not None and KEYS in rate:
                raise UserError(
                    f"--people takes the rates {' and '.join(UPDATES)}, or --update-rate; {KEYS} is one person's"
                )
            rates: list[str | float] = list(rate) if update_rate is None else [update_rate]
            for p in Numbers(**numbers).profiles(profile):
                for r in rates:
                    for name in BEYOND if policy == ["all"] else policy:
                        if people is not None:
                            rows.append(simulate_people(p, name, people, r, trajectories, seconds, seed, masher))
                            continue
                        row = trajectories_of(p, name, r, trajectories, seconds, seed)
                        if ranges and isinstance(r, str):
                            row["range_low"], row["range_high"] = protocol_range(p, name, r, seconds, seed)
                        rows.append(row)
    click.echo(table(rows))
    if json_file:
        write_json(json_file, {"rows": rows})
    return 0


def _map(trajectories: int, seconds: float, seed: int) -> list[dict[str, Any]]:
    """Settings that the paper does not list: K, C and updates a minute, at Wan's group of 0.25 s."""
    rows = []
    for k in (3, 7, 14, 21):
        for share in (0.15, 0.3, 0.6, 0.9):
            profile = uniform_profile(k, 0.25, share * k / 4, share * k / 4)
            for minute in (1.5, 7, 30):
                row = trajectories_of(profile, "speculative", minute / 60, trajectories, seconds, seed)
                row["profile"] = f"K={k} C/T={share:g}"
                rows.append(row)
    return rows


def _cell(row: dict[str, Any], key: str) -> str:
    if key == "interval":
        return "-" if row.get("mean_low") is None else f"{row['mean_low']:.2f} to {row['mean_high']:.2f}"
    if key == "range":
        return "-" if "range_low" not in row else f"{row['range_low']:.2f} to {row['range_high']:.2f}"
    value = row.get(key)
    if value is None:
        return "-"
    if isinstance(value, list):
        return " to ".join(f"{x:.2f}" for x in value)
    if key in ("stall_share", "w", "busy_share", "attainment", "came_true"):
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
