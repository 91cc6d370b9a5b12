"""Ranks on two simulated hosts of a Ray cluster: the frames of one process, and what happens when a worker or a host is lost."""

from __future__ import annotations

import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest

from app.cli.main import main
from engine.control.conditions import Condition
from engine.distributed import cluster as cluster_module
from engine.distributed.cluster import Cluster, ClusterError, FarGroup
from engine.distributed.group import RankError
from engine.distributed.load import load_parallel
from engine.distributed.sampler import ParallelSampler
from engine.distributed.split import Split
from engine.loading import loader
from engine.measure.hosts import Link, Links, findings
from engine.models.interface import Request
from engine.models.load_options import LoadOptions
from tests.engine.distributed.test_group import CLEAN, Host, begun, call, yes


@pytest.mark.parametrize("url", ["", "HOST", "http://HOST", "ray://", "ray://h:x", "ray://h:1/x", "auto"])
def test_what_is_no_cluster_is_refused(url: str) -> None:
    with pytest.raises(ClusterError, match="ray://HOST"):
        Cluster(url)


def test_the_number_of_gpus_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--model", "pocket", "--gpus", "auto", "--cluster", "ray://h"]) == 2
    assert "give their number" in capsys.readouterr().err


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as s:
        return int(s.getsockname()[1])


class Hosts:
    """A head without places, and hosts with one place each."""

    def __init__(self) -> None:
        from ray.cluster_utils import Cluster as Simulated

        self.port = free_port()
        head = {"num_cpus": 0, "ray_client_server_port": self.port, "object_store_memory": 80 << 20}
        self.cluster = Simulated(initialize_head=True, head_node_args=head)
        self.hosts = [self.add(), self.add()]

    def add(self):  # type: ignore[no-untyped-def]
        return self.cluster.add_node(num_cpus=1, object_store_memory=80 << 20)

    @staticmethod
    def processes(host) -> list[psutil.Process]:  # type: ignore[no-untyped-def]
        """Of one host; the workers after its daemon."""
        daemon = psutil.Process(host.all_processes["raylet"][0].process.pid)
        return [daemon, *daemon.children(recursive=True)]

    @classmethod
    def rank(cls, host) -> psutil.Process | None:  # type: ignore[no-untyped-def]
        """The rank on a host."""
        return next((p for p in cls.processes(host)[1:] if any("ray::_Worker" in c for c in p.cmdline())), None)


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    for name in ("ray", "grpc"):
        pytest.importorskip(name, reason='Ray is not here: pip install "foreland[cluster]"')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).resolve().parents[3]))
        patch.setenv("RAY_worker_niceness", "0")  # Ray's workers give way to all others by default
        made = Hosts()
        yield made
        import ray

        ray.shutdown()
        made.cluster.shutdown()


@pytest.fixture(scope="module")
def far(hosts: Hosts) -> Iterator[ParallelSampler]:
    options = LoadOptions(device="cpu", gpus=2, threads=1, cluster=f"ray://127.0.0.1:{hosts.port}")
    model = load_parallel("pocket", options, None, None, lambda stage, share: None)
    assert isinstance(model.sampler, ParallelSampler)
    yield model.sampler
    model.sampler.close()


def links(across: Link, inside: Link | None = None) -> Links:
    return Links((8, 8), across, inside)


def test_what_pays_across_hosts_follows_from_what_was_measured() -> None:
    near = Link(30e-6, 200e9)
    slow_line = links(Link(200e-6, 1e9), near)
    assert list(slow_line.choices.values()) == [Split(4, 2), Split(4, 4)]
    assert all("the best is one host alone (8 GPUs)" in line for line in findings(slow_line)[2:]), "10 GbE"
    fast = findings(links(Link(40e-6, 50e9), near))
    assert "the best is ring across hosts (--split 4x4)" in fast[-1], "InfiniBand, at 720p"
    twelve = Links((6, 6), Link(200e-6, 6e9), near)
    assert "Ulysses across hosts (--split 12x1)" in findings(twelve)[-1] and "--split 6x2" in findings(twelve)[-1]
    one = Links((8,), near, near)
    assert "nothing goes over a network" in findings(one)[-1]


GONE = "it ended, or its host did|not heard of for 3 s"
"""The second where a busy machine takes its time to end a process."""
pytest_slow = [pytest.mark.slow, pytest.mark.timeout(400)]


def slow(test):  # type: ignore[no-untyped-def]
    """Ray takes half a minute to start."""
    for mark in pytest_slow:
        test = mark(test)
    return test


@slow
def test_two_hosts_give_the_frames_of_one_process(hosts: Hosts, far: ParallelSampler) -> None:
    assert isinstance(far._group, FarGroup)
    assert len(set(far._group._placed.hosts)) == 2
    alone = loader("pocket", LoadOptions(device="cpu", threads=1))(lambda stage, share: None).sampler
    prepared = alone.prepare(Condition(0, "desert at noon"))
    alone.extend(alone.sample(Request(0, 4, 2, 1, 0, prepared, CLEAN), yes))
    turned = alone.prepare(Condition(1, "desert at noon", ("turn_right",)))
    expected = alone.sample(Request(3, 4, 2, 1, 0, turned, CLEAN), yes)
    begun(far)
    for a, b in zip(expected, call(far), strict=True):
        off = np.abs(a.latent.numpy() - b.latent.numpy())
        assert off.max() < 2e-3 and off.mean() < 5e-5


def lost(far: ParallelSampler, why: str) -> tuple[float, Host]:
    """A call fails because of it; seconds that it took, and what the person was told."""
    host = Host()
    far.attach(host)
    began = time.monotonic()
    with pytest.raises(RankError, match=why):
        call(far)
    return time.monotonic() - began, host


@slow
def test_a_killed_worker_is_placed_anew(hosts: Hosts, far: ParallelSampler) -> None:
    begun(far)
    expected = call(far)
    rank = hosts.rank(hosts.hosts[1])
    assert rank is not None
    rank.kill()
    seconds, host = lost(far, GONE)
    assert seconds < 8
    assert "plays on" in host.messages[0]
    for a, b in zip(expected, call(far), strict=True):
        assert np.array_equal(a.latent.numpy(), b.latent.numpy()), "from the retained latents"


@slow
def test_a_killed_host_is_missed_and_another_takes_its_place(
    hosts: Hosts, far: ParallelSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_module, "PLACE_SECONDS", 3.0)
    begun(far)
    expected = call(far)
    hosts.cluster.remove_node(hosts.hosts.pop(), allow_graceful=False)
    seconds, _ = lost(far, GONE)
    assert seconds < 8
    with pytest.raises(RankError, match="no room for 2 ranks"):
        call(far)
    hosts.hosts.append(hosts.add())
    for a, b in zip(expected, call(far), strict=True):
        assert np.array_equal(a.latent.numpy(), b.latent.numpy())


@slow
def test_a_silent_host_is_missed_after_three_seconds(
    hosts: Hosts, far: ParallelSampler, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(far)
    expected = call(far)
    silent = hosts.hosts.pop(0)
    stopped = hosts.processes(silent)
    try:
        for p in stopped:
            p.send_signal(signal.SIGSTOP)
        seconds, _ = lost(far, "not heard of for 3 s")
        assert 2 < seconds < 8, "Ray's own word would come after a minute"
        hosts.hosts.append(hosts.add())
        for a, b in zip(expected, call(far), strict=True):
            assert np.array_equal(a.latent.numpy(), b.latent.numpy())
        rank = hosts.rank(silent)
    finally:
        for p in stopped:
            if p.is_running():
                p.send_signal(signal.SIGCONT)
    if rank is not None:
        rank.wait(30)  # what was silent ends when it wakes


@slow
def test_the_doctor_measures_the_hosts(hosts: Hosts, far: ParallelSampler, capfd: pytest.CaptureFixture[str]) -> None:
    far.close()  # both places are wanted
    assert main(["doctor", "--cluster", f"ray://127.0.0.1:{hosts.port}"]) == 0
    said = capfd.readouterr().out
    assert "2 ranks on 2 host(s); an all-to-all among them" in said and "GB/s" in said
    assert said.count("the best is") == 3
