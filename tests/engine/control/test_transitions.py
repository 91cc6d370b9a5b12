"""The table is the machine: every cell of it is needed, and the tests of single behaviours notice when one is wrong."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from engine.control import controller
from engine.control.controller import TRANSITIONS, State, Transition
from engine.control.diagram import markdown
from engine.control.events import Event
from tests.engine.control import test_controller

SCENARIOS: list[Callable[[], None]] = [
    test for name, test in vars(test_controller).items() if name.startswith("test_") and not hasattr(test, "pytestmark")
]
Cell = tuple[State, type[Event]]
Users = dict[Cell, list[Callable[[], None]]]
HANDLERS = sorted({row.handler for row in TRANSITIONS.values()})
SWAPPED = [(key, handler) for key, row in TRANSITIONS.items() for handler in HANDLERS if handler != row.handler]
REMOVED = [(key, state) for key, row in TRANSITIONS.items() for state in sorted(row.follow)]


class Recorded(dict[Cell, Transition]):
    """The table, and which of its cells were read."""

    def __init__(self) -> None:
        super().__init__(TRANSITIONS)
        self.read: set[Cell] = set()

    def get(self, cell: Cell, default: object = None) -> Transition | None:  # type: ignore[override]
        self.read.add(cell)
        return super().get(cell)


@pytest.fixture(scope="module")
def users() -> Users:
    """The scenarios that read each cell, the quickest first: the others cannot notice what is in it. All pass as the table is."""
    took: dict[Callable[[], None], float] = {}
    read: dict[Callable[[], None], set[Cell]] = {}
    for scenario in SCENARIOS:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(controller, "TRANSITIONS", table := Recorded())
            began = time.process_time()
            scenario()
        took[scenario], read[scenario] = time.process_time() - began, table.read
    return {cell: sorted((s for s in SCENARIOS if cell in read[s]), key=took.__getitem__) for cell in TRANSITIONS}


def notice(scenarios: list[Callable[[], None]]) -> str:
    """The name of the first scenario that fails, or ''. The one that failed last is tried first: what is in one cell fails alike."""
    for scenario in scenarios:
        try:
            scenario()
        except (Exception, pytest.fail.Exception):
            scenarios.remove(scenario)
            scenarios.insert(0, scenario)
            return scenario.__name__
    return ""


def test_the_scenarios_pass_with_the_table_as_it_is_and_read_every_cell(users: Users) -> None:
    assert len(SCENARIOS) > 20
    assert all(users.values()) and users.keys() == TRANSITIONS.keys()
    assert notice(list(SCENARIOS)) == ""


def test_every_event_has_its_cell_until_the_machine_is_closed() -> None:
    assert set(TRANSITIONS) == {(s, e) for s in (State.CONSUME, State.PRODUCE) for e in get_args(Event)}


@pytest.mark.parametrize(
    ("key", "handler"), SWAPPED, ids=[f"{key[0]}-{key[1].__name__}-{handler.strip('_')}" for key, handler in SWAPPED]
)
def test_another_handler_in_a_cell_is_noticed(
    key: Cell, handler: str, users: Users, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TRANSITIONS, key, Transition(handler, TRANSITIONS[key].follow))
    assert notice(users[key])


@pytest.mark.parametrize(
    ("key", "state"), REMOVED, ids=[f"{key[0]}-{key[1].__name__}-{state}" for key, state in REMOVED]
)
def test_a_state_that_may_not_follow_any_more_is_noticed(
    key: Cell, state: State, users: Users, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TRANSITIONS, key, Transition(TRANSITIONS[key].handler, TRANSITIONS[key].follow - {state}))
    assert notice(users[key])


@pytest.mark.parametrize("key", TRANSITIONS, ids=lambda key: f"{key[0]}-{key[1].__name__}")
def test_a_cell_that_is_missing_is_noticed(key: Cell, users: Users, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(TRANSITIONS, key)
    assert notice(users[key])


def test_the_page_in_the_docs_is_generated_from_the_table() -> None:
    page = Path(__file__).parents[3] / "docs" / "controller.md"
    assert page.read_text(encoding="utf-8") == markdown()
