"""What a line costs, in virtual time: `python -m tests.engine.remote.figures`. The table of docs/serving.md."""

from __future__ import annotations

from tests.engine.remote.delayed_line import Conditions
from tests.engine.remote.test_remote_world import HEAVY, compared

LINES = ((0, 0, 0), (40, 5, 0), (40, 5, 1), (150, 20, 0), (150, 20, 1))
"""Round trip and jitter in ms, lost packets in percent."""


def main(seconds: float = 60.0) -> None:
    print("| round trip, ms | lost | L50 here | L50 over it | L95 over it | stalled |")
    print("| --- | --- | --- | --- | --- | --- |")
    for trip, jitter, loss in LINES:
        here, over = compared(seconds, Conditions(trip / 2000, jitter / 2000, loss / 100, HEAVY))
        print(
            f"| {trip}{f' +- {jitter}' if jitter else ''} | {loss} % | {here['L50']:.2f} s | {over['L50']:.2f} s | {over['L95']:.2f} s "
            f"| {over['stall_share']:.1%} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
