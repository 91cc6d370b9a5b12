"""Ranks on the hosts of a Ray cluster. Ray places one worker a GPU and starts it; the rest is as on one machine.

Ray needs about a minute to notice that a host is silent. Here ranks and engine tell each other every half second that they are alive, and
who was not heard of for 3 s is gone. Ray's client (ray://) is used, so that this process is no part of the cluster and outlives it.
"""

from __future__ import annotations

import queue
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from engine.distributed.group import COLLECTIVE_SECONDS, GOODBYE_SECONDS, START_SECONDS, RankError, RankGroup
from engine.distributed.wire import Meeting, Message, Wire, address_towards, store_at
from engine.distributed.worker import Rank, run_far_rank
from engine.errors import Refused
from engine.models.interface import Header, Tensors

CLIENT_PORT = 10001
"""Of Ray's client server, by default."""
PLACE_SECONDS = 30.0
"""For Ray to find room."""
SILENCE = 3.0
"""Seconds without a heartbeat after which a rank is gone."""
LOADING_SILENCE = 30.0
"""The same while it loads: importing and reading may keep a process from saying anything."""
LOOK_SECONDS = 0.25
CAUSE_SECONDS = 0.5


class ClusterError(Refused):
    """The cluster cannot be used. The message says why."""


@dataclass(frozen=True)
class Placed:
    """One worker: its actor, the host that it is on, and what that has."""

    actor: Any
    host: str
    version: str
    free: float | None
    """Bytes free on its device; None on a CPU."""


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        mine = version("foreland")
    except PackageNotFoundError:
        mine = "?"
    return f"Foreland {mine}, Python {sys.version_info[0]}.{sys.version_info[1]}"


class _Worker:
    """The actor: its process is the rank."""

    def about(self, device: str) -> tuple[str, str, float | None]:
        """Host, version, bytes free on the device."""
        import ray

        free = None
        if device != "cpu":
            import torch

            free = float(torch.cuda.mem_get_info()[0])
        return ray.get_runtime_context().get_node_id(), _version(), free

    def work(self, address: tuple[str, int], key: bytes, rank: int, kind: type[Rank]) -> None:
        """The life of a rank; does not return."""
        run_far_rank(address, key, rank, kind)


class Cluster:
    """Where ranks are placed. Used from one thread."""

    def __init__(self, url: str) -> None:
        """url: ray://HOST or ray://HOST:PORT. Raises ClusterError for another one."""
        parts = urlsplit(url)
        try:
            port = parts.port or CLIENT_PORT
        except ValueError:
            port = 0
        if parts.scheme != "ray" or not parts.hostname or not port or parts.path.strip("/"):
            raise ClusterError(
                f"{url[:100]} is no Ray cluster: give ray://HOST, or ray://HOST:PORT of its client server"
            )
        self.host, self.port = parts.hostname, port

    def connect(self) -> Any:
        """The module ray, connected. Raises ClusterError."""
        try:
            import grpc  # noqa: F401
            import ray
        except ImportError as e:
            raise ClusterError('--cluster needs Ray: pip install "foreland[cluster]"') from e
        if ray.util.client.ray.is_connected():
            return ray
        try:
            ray.init(f"ray://{self.host}:{self.port}", namespace="foreland", log_to_driver=False)
        except Exception as e:  # grpc's and Ray's own
            first = str(e).strip().splitlines()
            raise ClusterError(
                f"Ray does not answer at {self.host}:{self.port} ({first[0][:200] if first else type(e).__name__}): is `ray start "
                "--head` running there, with the same versions of Ray and Python?"
            ) from e
        return ray

    def device(self, wanted: str) -> str:
        """cpu or cuda: where ranks compute. wanted: as of `LoadOptions.device`. Raises ClusterError."""
        gpus = self.connect().cluster_resources().get("GPU", 0)
        if wanted == "cpu" or (wanted == "auto" and not gpus):
            return "cpu"
        if not gpus:
            raise ClusterError(f"--device {wanted}: no host of the cluster has a GPU; take --device cpu")
        return "cuda:0"  # Ray shows a worker its own only

    def place(self, ranks: int, device: str) -> PlacedRanks:
        """Workers for so many ranks, those of a host beside each other. device: cpu, or cuda: a GPU each. Raises ClusterError."""
        ray = self.connect()
        kind = "CPU" if device == "cpu" else "GPU"
        bundle = {"CPU": 1} if device == "cpu" else {"CPU": 1, "GPU": 1}
        group = ray.util.placement_group([bundle] * ranks, strategy="PACK")
        if not group.wait(PLACE_SECONDS):
            free = int(ray.available_resources().get(kind, 0))
            there = int(ray.cluster_resources().get(kind, 0))
            ray.util.remove_placement_group(group)
            raise ClusterError(
                f"the cluster has no room for {ranks} ranks within {PLACE_SECONDS:.0f} s: {there} {kind}s are there, {free} are free"
            )
        from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

        made = ray.remote(_Worker)

        def worker(i: int) -> Any:
            there = PlacementGroupSchedulingStrategy(group, i)
            return made.options(
                max_restarts=0, num_cpus=1, num_gpus=bundle.get("GPU", 0), scheduling_strategy=there
            ).remote()

        actors = [worker(i) for i in range(ranks)]
        placed = PlacedRanks(ray, group, [])
        try:
            about = ray.get([a.about.remote(device) for a in actors], timeout=START_SECONDS)
        except Exception as e:
            placed.workers = [Placed(a, "", "", None) for a in actors]
            placed.end()
            raise ClusterError(f"a worker of the cluster did not start ({_first_line(e)})") from e
        workers = [Placed(a, *said) for a, said in zip(actors, about, strict=True)]
        placed.workers = sorted(workers, key=lambda w: w.host)
        if other := next((w.version for w in workers if w.version != _version()), None):
            placed.end()
            raise ClusterError(f"this is {_version()}, and a host of the cluster has {other}: install the same on all")
        return placed


@dataclass
class PlacedRanks:
    """Workers that wait to become ranks, by rank."""

    ray: Any
    group: Any
    workers: list[Placed]

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts, by rank."""
        return [w.host for w in self.workers]

    @property
    def free(self) -> list[float | None]:
        """Bytes free on the devices, by rank."""
        return [w.free for w in self.workers]

    def end(self) -> None:
        """Gives the places back, whatever their processes do."""
        for worker in self.workers:
            with suppress(Exception):
                self.ray.kill(worker.actor, no_restart=True)
        with suppress(Exception):
            self.ray.util.remove_placement_group(self.group)


class FarGroup(RankGroup):
    """A group of ranks on other hosts."""

    def __init__(
        self,
        request: Header,
        cluster: Cluster,
        placed: PlacedRanks,
        device: str,
        progress: Callable[[str, float], None],
        rank: type[Rank] = Rank,
    ) -> None:
        """placed: taken over. device: of every rank, on its host. Raises RankError when one does not come up."""
        self._placed, self._cluster = placed, cluster
        self._wires: list[Wire] = []
        self._messages: queue.SimpleQueue[tuple[int, Message | Exception]] = queue.SimpleQueue()
        self._limit = LOADING_SILENCE
        self._store: Any = None
        super().__init__(request, [device] * len(placed.workers), progress, rank)
        self._limit = SILENCE

    @property
    def pids(self) -> list[int]:
        """None of this machine's."""
        return []

    def _start(self, request: Header, devices: list[str], kind: type[Rank]) -> None:
        try:
            address = address_towards(self._cluster.host)
            meeting = Meeting(address)
            self._store = store_at(address)
        except (OSError, RuntimeError) as e:
            raise RankError(f"the ranks cannot be met at this machine's address ({e})") from e
        lives = [
            w.actor.work.remote(meeting.address, meeting.key, rank, kind) for rank, w in enumerate(self._placed.workers)
        ]
        try:
            found = self._come(meeting, lives)
        finally:
            meeting.close()
        self._wires = [Wire(found[r], self._hears(r)) for r in range(self.ranks)]
        shared = {"op": "load", "ranks": self.ranks, "meeting": [address, self._store.port]}
        for rank, device in enumerate(devices):
            options = request["options"] | {"device": device}
            self._send(rank, request | shared | {"collective": COLLECTIVE_SECONDS, "rank": rank, "options": options})

    def _come(self, meeting: Meeting, lives: Sequence[Any]) -> dict[int, Any]:
        found: dict[int, Any] = {}
        end = time.monotonic() + START_SECONDS
        while len(found) < self.ranks:
            if (come := meeting.next(LOOK_SECONDS)) is not None and come[0] < self.ranks:
                found[come[0]] = come[1]
                continue
            ended, _ = self._placed.ray.wait(list(lives), timeout=0)
            if ended or time.monotonic() > end:
                try:
                    self._placed.ray.get(ended[:1], timeout=LOOK_SECONDS)
                    why = "it ended"
                except Exception as e:
                    why = _first_line(e)
                raise RankError(f"a rank did not connect to {meeting.address[0]}: {why}")
        return found

    def _hears(self, rank: int) -> Callable[[Message | Exception], None]:
        return lambda message: self._messages.put((rank, message))

    def _send(self, rank: int, header: Header, tensors: Tensors | None = None) -> None:
        if not self.alive:
            raise RankError("the ranks were ended")
        self._wires[rank].send(header, tensors)

    def _wait(self, seconds: float) -> tuple[int, Header, Tensors]:
        end = time.monotonic() + seconds
        quiet = -1
        while True:
            try:
                rank, message = self._messages.get(timeout=LOOK_SECONDS)
                break
            except queue.Empty:
                pass
            now = time.monotonic()
            silent = next((r for r, w in enumerate(self._wires) if now - w.heard_at > self._limit), -1)
            if silent >= 0 and silent == quiet:  # twice: this process itself may have stood still
                self._fail(silent, f"its host was not heard of for {self._limit:.0f} s")
            quiet = silent
            if now > end:
                self._fail(None, f"no sign of life for {seconds:.0f} s")
        if not isinstance(message, Exception) and message[0]["op"] == "error":
            rank, message = self._cause(rank, message)
        if isinstance(message, (EOFError, OSError)):
            self._fail(rank, "it ended, or its host did")
        if isinstance(message, Exception):
            self._fail(rank, f"what it sent is not a message ({type(message).__name__})")
        return rank, *message

    def _cause(self, rank: int, message: Message) -> tuple[int, Message | Exception]:
        """A rank that complains of a lost connection has lost another rank: that one's end, where it is heard of at once."""
        with suppress(queue.Empty):
            while True:
                other, said = self._messages.get(timeout=CAUSE_SECONDS)
                if isinstance(said, (EOFError, OSError)):
                    return other, said
        return rank, message

    def kill(self) -> None:
        """See `RankGroup.kill`."""
        self.alive = False
        for wire in self._wires:
            wire.cut()
        self._placed.end()
        self._store = None
        self._folder.cleanup()

    def close(self) -> None:
        """See `RankGroup.close`."""
        if not self.alive:
            return
        for wire in self._wires:
            wire.send({"op": "close"})
        end, left = time.monotonic() + GOODBYE_SECONDS, self.ranks
        while left and (rest := end - time.monotonic()) > 0:
            with suppress(queue.Empty):
                left -= isinstance(self._messages.get(timeout=rest)[1], Exception)
        self.kill()


def _first_line(error: BaseException) -> str:
    lines = [x for x in str(error).strip().splitlines() if x.strip()]
    return lines[-1][:300] if lines else type(error).__name__
