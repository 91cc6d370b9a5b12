"""A line in memory whose messages take their time, by a clock: also a virtual one."""

from __future__ import annotations

from engine.remote.line import Heard, LineError
from engine.remote.lobby import Lobby
from engine.runtime.clock import Clock, Inbox


class Wire:
    """One direction."""

    def __init__(self, clock: Clock, delay: float, heard: Heard) -> None:
        self._clock, self._delay, self._heard = clock, delay, heard
        self._under_way: Inbox[tuple[float, bytes | None]] = Inbox(clock)
        self.cut = False
        self.bytes = 0
        clock.spawn(self._carry, "foreland-wire")

    def put(self, data: bytes | None) -> None:
        self.bytes += len(data or b"")
        self._under_way.put((self._clock.now() + self._delay, data))

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
    """Dials a lobby over lines of one delay, seconds each way; `cut` loses the lines that are open, with what is on them."""

    def __init__(self, lobby: Lobby, clock: Clock, delay: float = 0.0) -> None:
        self.lobby, self.clock, self.delay = lobby, clock, delay
        self.up = True
        self.wires: list[Wire] = []

    def dial(self, heard: Heard) -> End:
        if not self.up:
            raise LineError("there is no network")
        back = Wire(self.clock, self.delay, heard)
        end = End(back)
        hosts = []

        def arrive(data: bytes | None) -> None:
            if not hosts:
                if data is None:
                    end.close()
                    return
                try:
                    hosts.append(self.lobby.enter(end, data))
                except LineError:
                    hosts.append(None)
                    end.close()
            elif hosts[0] is not None:
                hosts[0].heard(end, data)
            if data is None:
                end.close()

        there = Wire(self.clock, self.delay, arrive)
        self.wires += [back, there]
        return End(there)

    def cut(self, up: bool = True) -> None:
        self.up = up
        for wire in self.wires:
            wire.cut = True
            wire.put(None)
        self.wires.clear()
