"""Draws the controller's transition table for the docs: `python -m engine.control.diagram > docs/controller.md`."""

from __future__ import annotations

from engine.control.controller import TRANSITIONS, Controller, State

HEAD = """# The controller's table

Generated from `TRANSITIONS` in `engine/control/controller.py` by `python -m engine.control.diagram > docs/controller.md`;
a test compares. The controller executes this table; the rules and the theory of operation are at the top of that file.
After the handler, a machine in `consume` evaluates the guard: a pending version with a feasible branch, or a refill that is
due, launches a call and leads to `produce`.
"""


def _cell(state: State, event: type) -> str:
    """What happens, and the states that may follow."""
    row = TRANSITIONS.get((state, event))
    if row is None:
        return "cannot happen"
    doc = getattr(Controller, row.handler).__doc__.splitlines()[0]
    return f"{row.handler.strip('_').replace('_', ' ')}: {doc} -> {', '.join(sorted(row.follow)) or 'nothing'}"


def markdown() -> str:
    """The page: a Mermaid diagram and the table."""
    lines = [HEAD, "```mermaid", "stateDiagram-v2", "    [*] --> consume"]
    for (state, event), row in TRANSITIONS.items():
        for target in sorted(row.follow):
            lines.append(f"    {state} --> {target}: {event.__name__}")
    states = [s for s in State if any(s is state for state, _ in TRANSITIONS)]
    lines += ["```", "", f"| event | {' | '.join(f'in {s}' for s in states)} |", "| --- |" + " --- |" * len(states)]
    for event in dict.fromkeys(e for _, e in TRANSITIONS):
        lines.append(f"| {event.__name__} | {' | '.join(_cell(s, event) for s in states)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(markdown(), end="")
