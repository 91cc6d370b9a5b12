"""The group of ranks: faults of every kind, rebuilding from retained latents, no orphans, the same frames as one process."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from app.cli.main import main
from engine.control.conditions import Condition
from engine.distributed import group as group_module
from engine.distributed.group import RankError, RankGroup
from engine.distributed.load import devices_of, load_parallel
from engine.distributed.sampler import ParallelSampler
from engine.distributed.split import SplitError
from engine.loading import loader
from engine.models.interface import HistoryPolicy, Request
from engine.models.load_options import LoadOptions
from engine.models.registry import spec_of
from engine.models.tiny import write_tiny
from engine.runtime.engine import Engine
from engine.runtime.settings import Settings
from tests.engine.distributed.faults import BareRank, FaultyRank
from tests.logs import log_lines

ROOT = Path(__file__).resolve().parents[3]
CLEAN = HistoryPolicy.CLEAN_PREFILL


def gone(pids: list[int], seconds: float = 10.0) -> bool:
    """Whether none of these processes runs any more."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        alive = []
        for pid in pids:
            try:
                state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
                if state not in "ZX":
                    alive.append(pid)
            except OSError:
                continue
        if not alive:
            return True
        time.sleep(0.05)
    return False


class Host:
    """Keeps what a sampler says."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def notify(self, message: str) -> None:
        self.messages.append(message)

    def decode_until(self, position: int) -> None:
        return


def yes(step: int, steps: int) -> bool:
    return True


@pytest.fixture(scope="module")
def ranks() -> Iterator[ParallelSampler]:
    """Two ranks of the pocket world."""
    options = LoadOptions(device="cpu", gpus=2, threads=1)
    model = load_parallel("pocket", options, None, None, lambda stage, share: None, FaultyRank)
    assert isinstance(model.sampler, ParallelSampler)
    yield model.sampler
    model.sampler.close()


def begun(sampler: ParallelSampler) -> None:
    sampler.reset()
    if sampler._group is None:
        sampler._living()
    prepared = sampler.prepare(Condition(0, "desert at noon"))
    sampler.extend(sampler.sample(Request(0, 4, 2, 1, 0, prepared, CLEAN), yes))


def call(sampler: ParallelSampler, branch: int = 3, report: Callable[[int, int], bool] = yes):  # type: ignore[no-untyped-def]
    prepared = sampler.prepare(Condition(1, "desert at noon", ("turn_right",)))
    return sampler.sample(Request(branch, 4, 2, 1, 0, prepared, CLEAN), report)


def test_a_call_is_that_of_one_process_and_stops_at_a_step_on_all_ranks(ranks: ParallelSampler) -> None:
    alone = loader("pocket", LoadOptions(device="cpu", threads=1))(lambda stage, share: None).sampler
    prepared = alone.prepare(Condition(0, "desert at noon"))
    alone.extend(alone.sample(Request(0, 4, 2, 1, 0, prepared, CLEAN), yes))
    turned = alone.prepare(Condition(1, "desert at noon", ("turn_right",)))
    expected = alone.sample(Request(3, 4, 2, 1, 0, turned, CLEAN), yes)
    begun(ranks)
    from engine.models.interface import Stopped

    with pytest.raises(Stopped):
        call(ranks, report=lambda step, steps: False)
    for a, b in zip(expected, call(ranks), strict=True):
        assert a.position == b.position
        # the second of two calls of several steps: ranks add in another order, and what that changes grows on the way
        off = np.abs(a.latent.numpy() - b.latent.numpy())
        assert off.max() < 2e-3 and off.mean() < 5e-5
        assert np.allclose(a.state.motion, b.state.motion) and a.state.place == b.state.place


@pytest.mark.parametrize(
    ("kind", "message"), [("die", "ended with status -9"), ("oom", "out of memory"), ("hang", "no sign of life")]
)
def test_a_rank_that_fails_ends_the_group_and_it_goes_on_from_retained_latents(
    ranks: ParallelSampler, kind: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_module, "LEAST_PATIENCE", 3.0)
    begun(ranks)
    expected = call(ranks)
    before = ranks.pids
    host = Host()
    ranks.attach(host)
    assert ranks._group is not None
    ranks._group._slowest = 0.1
    ranks._group._send(1, {"op": "fault", "kind": kind})
    began = time.monotonic()
    with pytest.raises(RankError, match=message):
        call(ranks)
    assert time.monotonic() - began < 15  # the patience with one that hangs, on a busy machine
    assert gone(before)  # the healthy rank too: what it waited for will never come
    assert len(host.messages) == 1 and "plays on" in host.messages[0]
    again = call(ranks)
    assert set(ranks.pids).isdisjoint(before)
    for a, b in zip(expected, again, strict=True):
        assert np.allclose(a.latent.numpy(), b.latent.numpy(), atol=1e-4)


def test_a_fault_while_idle_is_mended_while_idle(ranks: ParallelSampler) -> None:
    begun(ranks)
    os.kill(ranks.pids[0], signal.SIGKILL)
    restarts = ranks.restarts
    ranks.prefill_chunk(ranks._made, CLEAN)  # finds out
    assert ranks._group is None
    assert ranks.prefill_step(4, CLEAN)
    assert ranks.restarts == restarts + 1
    assert len(call(ranks)) == 4


def test_resets_and_pauses_leave_the_ranks_in_step(ranks: ParallelSampler) -> None:
    begun(ranks)
    pids = ranks.pids
    for seed in range(3):
        ranks.reset()
        prepared = ranks.prepare(Condition(0, "islands"))
        ranks.extend(ranks.sample(Request(0, 3, 1, seed, seed, prepared, CLEAN), yes))
        ranks.evict_before(2)
        while ranks.prefill_step(2, CLEAN):
            pass
        time.sleep(0.3)  # nothing waits in a collective meanwhile
    assert ranks.pids == pids


def test_idle_time_longer_than_a_collectives_limit_is_nothing(
    ranks: ParallelSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(group_module, "COLLECTIVE_SECONDS", 4.0)
    ranks.close()
    begun(ranks)  # a new group
    pids = ranks.pids
    time.sleep(5.0)
    assert len(call(ranks)) == 4
    assert ranks.pids == pids


def test_an_impossible_split_or_too_many_gpus_is_refused_before_anything_starts() -> None:
    with pytest.raises(SplitError, match="legal for 3 heads on 2 ranks: 1x2"):
        loader("pocket", LoadOptions(device="cpu", gpus=2, split="2x1"))(lambda stage, share: None)
    with pytest.raises(ValueError, match="0 are here"):
        devices_of(LoadOptions(device="cuda", gpus=2))
    with pytest.raises(ValueError, match="pocket does not understand --device"):
        loader("pocket", LoadOptions(device="cuda", gpus=2))


def test_ranks_end_with_their_parent(tmp_path: Path) -> None:
    """Killed without a goodbye, in the middle of a call."""
    code = """
import sys, time
from engine.loading import loader
from engine.models.load_options import LoadOptions
from engine.control.conditions import Condition
from engine.models.interface import HistoryPolicy, Request
m = loader("pocket", LoadOptions(device="cpu", gpus=2, threads=1))(lambda s, f: None)
print(*m.sampler.pids, flush=True)
p = m.sampler.prepare(Condition(0, "desert"))
while True:
    m.sampler.sample(Request(0, 21, 8, 1, 0, p, HistoryPolicy.CLEAN_PREFILL), lambda a, b: True)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    pids = [int(x) for x in child.stdout.readline().split()]
    assert len(pids) == 2
    time.sleep(0.5)
    child.kill()
    child.wait()
    assert gone(pids)


def bare(ranks: int, **more: object) -> RankGroup:
    """A group without a model."""
    return RankGroup({"options": {}, **more}, ["cpu"] * ranks, lambda stage, share: None, BareRank)


@pytest.mark.usefixtures("true_starts")
def test_a_rank_runs_no_file_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("multiprocessing", "socket", "engine"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'ran')!r}, 'a').write({name!r})\n")
    monkeypatch.chdir(tmp_path)
    bare(1).close()
    assert not (tmp_path / "ran").exists()
    assert "PYTHONSAFEPATH" not in os.environ


def test_a_group_ends_with_a_goodbye_and_leaves_nothing() -> None:
    group = bare(2)
    pids, folder = group.pids, Path(group._folder.name)
    group.close()
    assert gone(pids) and not folder.exists()
    assert [child.exitcode for child in group._children] == [0, 0]
    group.close()  # twice is nothing


def test_a_rank_that_cannot_load_ends_the_group_with_its_words() -> None:
    before = {c.pid for c in multiprocessing.active_children()}
    with pytest.raises(RankError, match="rank 1 of 2: nothing to load"):
        bare(2, refuses=1)
    assert not {c.pid for c in multiprocessing.active_children()} - before


def test_a_rank_of_another_engine_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(group_module, "FOLDER", tmp_path / "assets")
    with pytest.raises(RankError, match="found another package named engine, beside"):
        RankGroup({"options": {}}, ["cpu"], lambda stage, share: None)


# -- the whole program -------------------------------------------------------------------------------------------------


def test_the_engine_survives_a_dead_rank_and_playback_goes_on(tmp_path: Path) -> None:
    spec = spec_of("pocket")
    load = loader("pocket", LoadOptions(device="cpu", gpus=2, threads=1))
    engine = Engine(load, spec, Settings(prompt="desert at noon", window=21, steps=2), tmp_path / "s")
    engine.start()
    shown = 0

    def play_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
        nonlocal shown
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end and engine.error is None, engine.error
            shown += sum(p.image is not None for p in engine.player.advance(engine.clock.now()))
            time.sleep(0.005)

    play_until(lambda: shown > 8)
    sampler = engine._session.model.sampler  # type: ignore[union-attr]
    assert isinstance(sampler, ParallelSampler)
    pids = sampler.pids
    os.kill(pids[1], signal.SIGKILL)
    at = shown
    engine.press("turn_right")
    play_until(lambda: shown > at + 24)  # from the cache
    play_until(lambda: any(u.kind == "key" and u.phase == "live" for u in engine.view.updates))
    assert sampler.restarts == 1
    lines = log_lines(tmp_path / "s")
    notes = [x["text"] for x in lines if x["kind"] == "note"]
    assert sum("plays on" in n for n in notes) == 1
    now = sampler.pids
    engine.close()
    assert engine.summary is not None and gone(pids + now)


@pytest.mark.parametrize("gpus", ["2", pytest.param("4", marks=pytest.mark.slow)])
def test_the_pocket_world_over_ranks_shows_the_frames_of_one_process(gpus: str, tmp_path: Path) -> None:
    """To a grey level but for a few pixels: sums are added in another order, and re-projection asks which of two places is nearer."""
    events = [{"t": 0.5, "key": "Right", "action": "down"}, {"t": 1.2, "prompt": "islands at dusk"}]
    (tmp_path / "s.json").write_text(json.dumps({"prompt": "desert at noon", "seconds": 2, "events": events}))
    raw = []
    for n in ("1", gpus):
        words = [
            "explore",
            "--model",
            "pocket",
            "--gpus",
            n,
            "--device",
            "cpu",
            "--threads",
            "1",
            "--script",
            str(tmp_path / "s.json"),
        ]
        words += ["--assume-call", "0.3", "--out", str(tmp_path / "f.mp4"), "--raw", str(tmp_path / "f.npy")]
        assert main([*words, "--session", str(tmp_path / n)]) == 0
        raw.append(np.load(tmp_path / "f.npy").astype(int))
    assert raw[0].shape == raw[1].shape == (32, 80, 128, 3)
    off = np.abs(raw[0] - raw[1])
    assert off.mean() < 0.02 and (off > 1).mean() < 1e-3 and off.max() <= 32
    assert main(["replay", str(tmp_path / gpus), "--check"]) == 0


@pytest.mark.parametrize(
    ("name", "history"), [("wan2.1-t2v-1.3b-self-forcing", "kv-reuse"), ("wan2.1-t2v-1.3b", "latent-input")]
)
def test_a_wan_checkpoint_explores_over_ranks(
    name: str, history: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORELAND_HOME", str(tmp_path / "home"))
    folder = write_tiny(name, tmp_path / "m")
    (tmp_path / "s.json").write_text(
        json.dumps({"prompt": "snow", "seconds": 2, "events": [{"t": 0.7, "prompt": "desert"}]})
    )
    raw = []
    for n in ("1", "2"):
        words = [
            "explore",
            "--model",
            str(folder),
            "--gpus",
            n,
            "--device",
            "cpu",
            "--threads",
            "1",
            "--history",
            history,
        ]
        words += ["--script", str(tmp_path / "s.json"), "--assume-call", "0.3", "--steps", "2", "--window", "6"]
        words += ["--size", "48x32"]
        assert main([*words, "--out", str(tmp_path / "f.mp4"), "--raw", str(tmp_path / "f.npy")]) == 0
        raw.append(np.load(tmp_path / "f.npy").astype(int))
    assert np.abs(raw[0] - raw[1]).max() <= 1


@pytest.mark.integration
def test_ranks_listen_on_the_loopback_interface_alone(ranks: ParallelSampler) -> None:
    """By the kernel's table of sockets, for each rank."""
    begun(ranks)
    listening = []
    for pid in ranks.pids:
        inodes = {
            os.readlink(f)[8:-1] for f in Path(f"/proc/{pid}/fd").iterdir() if os.readlink(f).startswith("socket:")
        }
        for table in ("tcp", "tcp6"):
            rows = [x.split() for x in Path(f"/proc/{pid}/net/{table}").read_text().splitlines()[1:]]
            listening += [r[1].rpartition(":")[0] for r in rows if r[3] == "0A" and r[9] in inodes]
    assert listening, "gloo listens somewhere"
    assert set(listening) <= {"0100007F", "00000000000000000000000001000000"}, "127.0.0.1 or ::1"


def test_a_message_that_is_none_ends_the_group_at_once_on_either_side() -> None:
    for garble in (lambda g: g._pipes[0].send_bytes(b"\xff" * 40), lambda g: g.tell({"op": "garbage"})):
        group = bare(2)
        garble(group)
        began = time.monotonic()
        with pytest.raises(RankError, match=r"rank [01] of 2: .*is not a message"):
            group.answers()
        assert time.monotonic() - began < 15, "the patience with silence is longer"
        assert not group.alive


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda n: n.name)
def test_the_processes_of_a_measurement_end_with_it(number: int) -> None:
    code = """
import multiprocessing, threading
from engine.measure import scaling
def look():
    while len(children := multiprocessing.active_children()) < 2 or not all(c.pid for c in children):
        pass
    print(*(c.pid for c in children), flush=True)
if __name__ == "__main__":
    threading.Thread(target=look, daemon=True).start()
    scaling.measure(2, None, "cpu", ["480p"], [21], 50)
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    )
    assert child.stdout is not None
    pids = [int(x) for x in child.stdout.readline().split()]
    assert len(pids) == 2
    child.send_signal(number)
    child.wait(20)
    assert gone(pids, 20)


@pytest.mark.slow
def test_twenty_starts_and_stops_leave_no_process_file_or_thread() -> None:
    before = (
        set(os.listdir("/proc/self/fd")),
        threading.active_count(),
        set(Path(tempfile.gettempdir()).glob("foreland-ranks-*")),
    )
    for i in range(20):
        group = bare(2)
        if i % 2:
            os.kill(group.pids[i // 2 % 2], signal.SIGKILL)
        pids = group.pids
        group.close()
        assert gone(pids)
    after = (
        set(os.listdir("/proc/self/fd")),
        threading.active_count(),
        set(Path(tempfile.gettempdir()).glob("foreland-ranks-*")),
    )
    assert len(after[0]) <= len(before[0]) + 2 and after[1:] == before[1:]
