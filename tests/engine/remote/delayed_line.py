"""Lines whose messages take their time: in memory by a clock, also a virtual one, and over real sockets.

A lost packet of TCP holds all behind it: until it is sent again after a round trip, or after 200 ms where too little follows to show that
it is missing (the least timeout of Linux).
"""

from __future__ import annotations

import heapq
import math
import random
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

from engine.remote.line import Heard, LineError
from engine.remote.lobby import Lobby
from engine.runtime.clock import Clock, Inbox

PACKET = 1400
"""Bytes of payload."""
TIMEOUT = 0.2
"""Seconds after which a packet is sent again that nothing else shows to be missing."""


@dataclass(frozen=True)
class Conditions:
    """Of a line. delay and jitter: seconds each way, the second exponential; loss: share of packets; weight: bytes that a byte counts
    as, for toys whose pictures are small."""

    delay: float = 0.0
    jitter: float = 0.0
    loss: float = 0.0
    weight: float = 1.0

    def seconds(self, size: int, dice: random.Random) -> float:
        """That a message of so many bytes takes by itself."""
        took = self.delay + (dice.expovariate(1 / self.jitter) if self.jitter else 0.0)
        packets = max(1, math.ceil(size * self.weight / PACKET))
        for i in range(packets):
            while dice.random() < self.loss:
                took += 2 * self.delay if packets - i > 3 else max(TIMEOUT, 4 * self.delay)
        return took


class Wire:
    """One direction."""

    def __init__(self, clock: Clock, line: Conditions, heard: Heard, seed: int = 0) -> None:
        self._clock, self._line, self._heard = clock, line, heard
        self._dice, self._last = random.Random(seed), 0.0
        self._under_way: Inbox[tuple[float, bytes | None]] = Inbox(clock)
        self.cut = False
        self.bytes = 0
        clock.spawn(self._carry, "foreland-wire")

    def put(self, data: bytes | None) -> None:
        self.bytes += len(data or b"")
        self._last = max(self._last, self._clock.now() + self._line.seconds(len(data or b""), self._dice))
        self._under_way.put((self._last, data))

    def _carry(self) -> None:
        while self._under_way.wait():
            due, data = self._under_way.take()
            if due > self._clock.now():
                self._clock.sleep(due - self._clock.now())
            if self.cut:
                data = None
            self._heard(data)
            if data is None:
                return


class End:
    def __init__(self, there: Wire) -> None:
        self.there = there

    def send(self, data: bytes) -> None:
        self.there.put(data)

    def close(self) -> None:
        self.there.put(None)


class Network:
    """Dials a lobby over lines of one kind; `cut` loses the lines that are open, with what is on them."""

    def __init__(self, lobby: Lobby, clock: Clock, line: Conditions) -> None:
        self.lobby, self.clock, self.line = lobby, clock, line
        self.up = True
        self.wires: list[Wire] = []

    def dial(self, heard: Heard) -> End:
        if not self.up:
            raise LineError("there is no network")
        back = Wire(self.clock, self.line, heard, 1)
        end = End(back)
        hosts = []

        def arrive(data: bytes | None) -> None:
            if not hosts:
                if data is None:
                    end.close()
                    return
                try:
                    host = self.lobby.enter(end, data)
                    hosts.append(host and host.heard_from(end))
                except LineError:
                    hosts.append(None)
                    end.close()
            elif hosts[0] is not None:
                hosts[0](data)
            if data is None:
                end.close()

        there = Wire(self.clock, self.line, arrive, 2)
        self.wires += [back, there]
        return End(there)

    def cut(self, up: bool = True) -> None:
        self.up = up
        for wire in self.wires:
            wire.cut = True
            wire.put(None)
        self.wires.clear()


class Proxy:
    """A port of this machine that leads to another one over a line of these conditions. Real sockets, real time."""

    def __init__(self, port: int, line: Conditions) -> None:
        self._to, self._line = port, line
        self._sockets: list[socket.socket] = []
        self.up = True
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                if not self.up:
                    near.close()
                    continue
                far = socket.create_connection(("127.0.0.1", self._to))
                self._sockets += [near, far]
                for seed, ends in enumerate(((near, far), (far, near))):
                    for end in ends:
                        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    threading.Thread(target=self._carry, args=(*ends, random.Random(seed)), daemon=True).start()

    def _carry(self, source: socket.socket, target: socket.socket, dice: random.Random) -> None:
        change, queue, last, n = threading.Condition(), [], 0.0, 0

        def write() -> None:
            with suppress(OSError):
                while True:
                    with change:
                        change.wait_for(lambda: queue)
                        due, _, data = heapq.heappop(queue)
                    time.sleep(max(0.0, due - time.monotonic()))
                    if not data:
                        target.shutdown(socket.SHUT_WR)
                        return
                    target.sendall(data)

        threading.Thread(target=write, daemon=True).start()
        data = b"x"
        while data:
            try:
                data = source.recv(1 << 16)
            except OSError:
                data = b""
            last = max(last, time.monotonic() + self._line.seconds(len(data), dice))
            n += 1
            with change:
                heapq.heappush(queue, (last, n, data))
                change.notify()

    def cut(self, up: bool = True) -> None:
        """Loses the lines that are open. up: whether new ones can be opened."""
        self.up = up
        for s in self._sockets:
            with suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)
        self._sockets.clear()

    def close(self) -> None:
        self.cut(up=False)
        self._listening.close()
