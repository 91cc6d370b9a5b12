"""A world at the other end of a line: the same frames, takes and receipts as here, in virtual time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from engine.models.interface import Group
from engine.playback.player import Frame
from engine.remote.client import RemoteEngine, RemoteWorld
from engine.remote.lobby import Lobby
from engine.runtime.clock import VirtualClock
from engine.runtime.engine import Engine
from engine.runtime.explore import explore_on
from engine.runtime.live_engine import LiveEngine
from engine.runtime.replay import replay
from engine.runtime.script import Script, ScriptEvent
from engine.runtime.settings import Settings
from tests.engine.remote.delayed_line import Conditions, Network
from tests.engine.runtime.test_live_engine import promised
from tests.toy import SPEC, ToyDecoder, ToySampler, toy

LARGE = replace(SPEC, width=64, height=64)
DELAY = 0.02
"""Seconds each way: a round trip of 40 ms."""
NEAR = Conditions(DELAY)
HEAVY = 60_000 / 1_500
"""The squares have some 1.5 KB a group; 832x480 has 60."""


class Squares(ToyDecoder):
    """Position, version and frame as six, five and two squares of black and white, which no codec makes unreadable."""

    def decode(self, group: Group) -> list[Frame]:
        position, version, _ = group.latent
        out = []
        for i in range(4):
            bits = [int(b) for b in f"{position % 256:08b}{version % 64:06b}{i:02b}"]
            small = np.array(bits, np.uint8).reshape(4, 4) * 255
            frame = np.repeat(np.repeat(small, 16, 0), 16, 1)[:, :, None].repeat(3, 2)
            frame.flags.writeable = False
            out.append(frame)
        return out


def read(frame: Frame) -> tuple[int, int, int]:
    """Position, version and frame of a picture."""
    bits = "".join(str(int(b)) for b in (frame[8::16, 8::16, 1] > 127).reshape(-1))
    return int(bits[:8], 2), int(bits[8:14], 2), int(bits[14:], 2)


@dataclass
class Away:
    clock: VirtualClock
    network: Network
    engine: RemoteEngine
    here: list[LiveEngine]
    frames: list[Frame]

    def until(self, condition: Callable[[], bool], seconds: float = 30.0, look: float = 0.004) -> None:
        end = self.clock.now() + seconds
        while not condition():
            assert self.clock.now() < end, "it did not happen in time"
            self.frames += [p.image for p in self.engine.player.advance(self.clock.now()) if p.image is not None]
            self.clock.sleep(look)

    def seconds(self, seconds: float) -> None:
        end = self.clock.now() + seconds
        self.until(lambda: self.clock.now() >= end, seconds + 1, 0.004 if seconds < 10 else 0.5)


@contextmanager
def away(
    folder: Path | None = None,
    line: Conditions = NEAR,
    token: str = "",
    start: bool = True,
    worlds: int = 1,
    network: type[Network] = Network,
) -> Iterator[Away]:
    clock, engines = VirtualClock(), []

    def make(chosen: Settings, log: Path) -> LiveEngine:
        sampler = ToySampler(LARGE, 0.3, sleep=clock.sleep)
        engines.append(Engine(toy(sampler, Squares(LARGE)), LARGE, chosen, log, clock))
        return engines[-1]

    net = network(Lobby(make, LARGE, clock, worlds, token), clock, line)
    world = RemoteWorld("there", LARGE, net.dial, token)
    engine = world.engine(Settings(prompt="a"), folder, clock)
    if start:
        engine.start()
    it = Away(clock, net, engine, engines, [])
    try:
        yield it
    finally:
        engine.close()
        net.cut(up=False)
        clock.sleep(1.0)  # the wires end


SCRIPT = Script("a", 5.0, tuple(ScriptEvent(t, w, "forward") for t, w in ((0.7, "down"), (2.1, "up"), (3.3, "down"))))


def explored(engine: LiveEngine) -> tuple[list[tuple[int, int, int]], dict]:
    frames: list[Frame] = []
    summary = explore_on(engine, SCRIPT, lambda f, s: frames.append(f), lambda *x: None)
    return [read(f) for f in frames], summary


def test_it_has_all_that_a_window_asks_of_an_engine() -> None:
    engine = RemoteWorld("x", LARGE, lambda heard: None).engine(Settings(), None, VirtualClock())  # type: ignore[arg-type,return-value]
    assert {name for name in promised(LiveEngine) if not hasattr(engine, name)} == set()


def test_a_script_over_40_ms_shows_every_frame_once_and_answers_within_the_line_and_one_group(tmp_path: Path) -> None:
    clock = VirtualClock()
    local = Engine(
        toy(ToySampler(LARGE, 0.3, sleep=clock.sleep), Squares(LARGE)), LARGE, Settings(prompt="a"), None, clock
    )
    here, at_home = explored(local)
    with away(tmp_path / "s", start=False) as there:
        seen, summary = explored(there.engine)
    order = [(i // 4, i % 4) for i in range(80)]
    assert [(p, i) for p, _, i in here] == order and [(p, i) for p, _, i in seen] == order
    assert summary["stalls"] == at_home["stalls"] == 0
    assert summary["L50"] < at_home["L50"] + 2 * DELAY + 4 / 16
    updates = [u for u in summary["updates"] if u["L"] is not None and u["kind"] != "start"]
    assert len(updates) == 3
    for u in updates:
        assert u["L"] == pytest.approx(u["line"] + u["R"] + u["C"] + u["Q"] + u["display"], abs=1e-5)
        assert u["line"] == pytest.approx(DELAY, abs=0.01)
        assert u["display"] >= DELAY
    assert json.loads((tmp_path / "s" / "summary.json").read_text()) == summary
    assert replay(tmp_path / "s").difference == "", "the log that came over the line is whole"


def many_keys(seconds: float) -> Script:
    """A key every 2.3 s, held for half a second."""
    times = [1.0 + 2.3 * i for i in range(int((seconds - 2) / 2.3))]
    events = [ScriptEvent(t + more, what, "forward") for t in times for more, what in ((0, "down"), (0.5, "up"))]
    return Script("a", seconds, tuple(events))


def compared(seconds: float, line: Conditions) -> tuple[dict, dict]:
    """Summaries of a script here and over a line."""
    clock = VirtualClock()
    local = Engine(
        toy(ToySampler(LARGE, 0.3, sleep=clock.sleep), Squares(LARGE)), LARGE, Settings(prompt="a"), None, clock
    )
    script = many_keys(seconds)
    here = explore_on(local, script, lambda f, s: None, lambda *x: None)
    with away(start=False, line=line) as there:
        over = explore_on(there.engine, script, lambda f, s: None, lambda *x: None)
    return here, over


@pytest.mark.parametrize("line", [Conditions(DELAY, 0.0025, 0.0, HEAVY), Conditions(DELAY, 0.0025, 0.01, HEAVY)])
def test_over_jitter_and_lost_packets_changes_are_seen_within_the_line_and_one_group_and_little_is_stalled(
    line: Conditions,
) -> None:
    here, over = compared(60.0, line)
    assert here["stalls"] == 0
    assert over["L50"] < here["L50"] + 2 * DELAY + 4 / 16 + (0.2 if line.loss else 0.0)
    assert over["stall_share"] <= 0.03, over["stall_share"]


def test_what_was_kept_is_decoded_again_here_and_gone_back_to() -> None:
    with away() as there:
        there.until(lambda: len(there.frames) > 60)
        takes, decoder = there.engine.takes, there.engine.fork_decoder()
        path = takes.path(takes.current)
        assert len(path) > 8
        kept = path[5]
        assert [read(f)[::2] for f in decoder.decode(kept.group)] == [(kept.position, i) for i in range(4)]
        there.engine.rewind(takes.current, kept.position)
        n = len(there.frames)
        there.until(lambda: takes.current == 1 and len(takes.path(1)) > 8 and len(there.frames) > n + 20)
        assert there.engine.view.epoch == there.engine.player.epoch == 1
        positions = [k.position for k in takes.path(1)]
        assert positions == list(range(positions[-1] + 1))
        there.engine.new_world("b", 7)
        there.until(lambda: there.engine.view.prompt == "b" and there.engine.player.shown > 8)
        assert takes.current == 0 and read(there.engine.player.image)[0] < 4


def test_a_lost_line_releases_the_keys_and_the_world_goes_on_where_it_was() -> None:
    with away() as there:
        there.until(lambda: len(there.frames) > 20)
        there.engine.press("forward")
        there.seconds(0.5)
        assert there.here[0].view.keys == ("forward",)
        there.network.cut(up=False)
        there.seconds(1.0)
        assert there.here[0].view.keys == (), "nobody is there to hold it"
        assert "lost" in there.engine.view.message
        there.seconds(2.0)
        assert there.here[0].player.paused
        at = there.here[0].player.shown
        there.seconds(60.0)
        assert there.here[0].player.shown == at
        there.network.up = True
        there.until(lambda: "is back" in there.engine.view.message, 2.0)
        n = len(there.frames)
        there.until(lambda: len(there.frames) > n + 40)
        assert there.here[0].view.keys == ("forward",), "it is still held here"
        there.engine.release("forward")
        there.seconds(1.0)
        assert there.here[0].view.keys == ()
    order = [(p, i) for p, _, i in map(read, there.frames)]
    assert order == [(i // 4, i % 4) for i in range(len(order))], "no frame was lost or shown twice"


def test_a_world_is_kept_for_ten_minutes_and_then_over() -> None:
    with away() as there:
        there.until(lambda: len(there.frames) > 8)
        there.network.cut(up=False)
        there.seconds(700.0)
        assert not there.here[0].running
        there.network.up = True
        there.until(lambda: not there.engine.running)
        assert "did not come back" in (there.engine.error or "") or "over" in (there.engine.error or "")


def test_a_wrong_token_and_a_full_server_are_refused_in_words() -> None:
    with away(token="secret") as there:
        there.until(lambda: len(there.frames) > 4)
        for token, words in (("wrong", "token"), ("secret", "room for 1")):
            other = RemoteWorld("there", LARGE, there.network.dial, token).engine(Settings(), None, there.clock)
            other.start()
            there.until(lambda other=other: not other.running)
            assert words in (other.error or "")
        there.seconds(1.0)
        assert there.engine.running
