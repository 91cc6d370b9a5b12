"""Draws the controller's transition table for the docs: `python -m engine.control.diagram > docs/controller.md`."""

from __future__ import annotations

from engine.control.controller import TABLE, State

HEAD = """# The controller's table

Generated from `TABLE` in `engine/control/controller.py` by `python -m engine.control.diagram > docs/controller.md`; a test compares.
The rules and the theory of operation are at the top of that file.
"""


def _targets(state: State, text: str) -> list[State]:
    """The states that a row can lead to."""
    if "slot free" in text:
        return [State.PRODUCE, State.CONSUME]
    if "abandon" in text:
        return [State.PRODUCE, State.CONSUME]
    if "launch" in text and state is State.CONSUME:
        return [State.PRODUCE, State.CONSUME]
    return [state]


def markdown() -> str:
    """The page: a Mermaid diagram and the table."""
    lines = [HEAD, "```mermaid", "stateDiagram-v2", "    [*] --> consume"]
    for (state, event), text in TABLE.items():
        for target in _targets(state, text):
            lines.append(f"    {state.value} --> {target.value}: {event.__name__}")
    lines += ["```", "", "| event | in Consume | in Produce |", "| --- | --- | --- |"]
    for event in dict.fromkeys(e for _, e in TABLE):
        lines.append(f"| {event.__name__} | {TABLE[State.CONSUME, event]} | {TABLE[State.PRODUCE, event]} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
