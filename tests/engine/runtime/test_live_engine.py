"""The protocol that who shows a world knows an engine by."""

from __future__ import annotations

from engine.runtime.clock import VirtualClock
from engine.runtime.engine import Engine
from engine.runtime.live_engine import LiveEngine
from engine.runtime.settings import Settings
from tests.toy import SPEC, toy


def promised(protocol: type) -> set[str]:
    """Names of methods and attributes."""
    return {name for name in {*vars(protocol), *protocol.__annotations__} if not name.startswith("_")}


def test_the_engine_in_this_process_has_all_that_is_promised() -> None:
    engine = Engine(toy(), SPEC, Settings(), None, VirtualClock())
    assert {name for name in promised(LiveEngine) if not hasattr(engine, name)} == set()
