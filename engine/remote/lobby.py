"""Who may come in: version, token, room. Each client gets its world's `Host`, or a reason why not."""

from __future__ import annotations

import hmac
import logging
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

from engine.models.interface import ModelSpec
from engine.remote.host import Host, Make
from engine.remote.line import Line, LineError
from engine.remote.protocol import PROTOCOL, BadMessage, Hello, Refusal, Welcome, packed, to_server
from engine.runtime.clock import Clock

log = logging.getLogger(__name__)


NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
ORDINALS = ("second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")


def crowded(people: int, wait: float) -> str:
    """Why one more does not come in. people: who play; wait: seconds that a change would take then, at worst."""
    plural = "person plays" if people == 1 else "people play"
    many = NUMBERS[people - 1] if 1 <= people <= len(NUMBERS) else str(people)
    one_more = f"a {ORDINALS[people - 1]}" if 1 <= people <= len(ORDINALS) else "one more"
    one_more = one_more.replace("a eighth", "an eighth")
    return f"{many} {plural} here, and {one_more} would make everybody wait up to {wait:.1f} s for a change: come back later"


class Lobby:
    """From any thread."""

    def __init__(
        self,
        make: Make,
        spec: ModelSpec,
        clock: Clock,
        worlds: int = 1,
        token: str = "",
        say: Callable[[str], None] = log.info,
        too_many: Callable[[], float | None] = lambda: None,
    ) -> None:
        """make: makes the engine of a world; worlds: that may be played at once; token: that a client has to know, '' for none;
        say: takes a sentence for whoever runs the server, from any thread; too_many: seconds that one more would make all wait, where
        that is too long."""
        self._say, self._too_many = say, too_many
        self.watch_key = secrets.token_urlsafe(16)
        """Lets people look on who may do nothing."""
        self._make, self._spec, self._clock = make, spec, clock
        self._worlds, self._token = worlds, token
        self._lock = threading.Lock()
        self._hosts: dict[str, Host] = {}

    @property
    def guarded(self) -> bool:
        """Whether clients need a token."""
        return bool(self._token)

    def enter(self, line: Line, first: bytes) -> Host | None:
        """Takes a client's first message; what it sends from then on is for the Host. None: it only asked. Raises LineError when it
        may not come in; the client has heard the reason."""
        try:
            return self._admitted(line, first)
        except BadMessage as e:
            self._say(f"a client was turned away: it is not a Foreland of this version ({e})")
            line.send(packed(Refusal(reason=f"this is not a Foreland of this version: {e}"[:1000])))
            raise LineError(str(e)) from e
        except LineError as e:
            self._say(f"a client was turned away: {e}")
            line.send(packed(Refusal(reason=str(e)[:1000])))
            raise

    def _admitted(self, line: Line, first: bytes) -> Host | None:
        hello, _ = to_server(first)
        if not isinstance(hello, Hello):
            raise BadMessage("it did not begin with a greeting")
        if hello.protocol != PROTOCOL:
            raise LineError(
                f"the server speaks version {PROTOCOL} of the protocol and the client {hello.protocol}: take the same "
                "Foreland at both ends"
            )
        if hello.watch is not None:
            return self._watched(line, hello.watch)
        if not hmac.compare_digest(hello.token.encode(), self._token.encode()):
            raise LineError("the token is not the server's: give the file that `foreland serve` names as --token-file")
        if hello.asks:
            line.send(packed(Welcome(protocol=PROTOCOL, session="", resumed=False, number=0, spec=self._spec)))
            return None
        with self._lock:
            if hello.session is None:
                host = self._new_host()
            elif (known := self._hosts.get(hello.session)) is not None:
                host = known
            else:
                raise LineError("the world is over: the server kept it for 10 minutes, or was started anew")
            host.join(line, hello)
        return host

    def _watched(self, line: Line, key: str) -> Host:
        if not hmac.compare_digest(key.encode(), self.watch_key.encode()):
            raise LineError("that link is of another server, or of one that was started anew")
        with self._lock:
            host = next(iter(self._hosts.values()), None)
            if host is None:
                raise LineError("nobody plays here now")
            host.watch(line)
        return host

    def _new_host(self) -> Host:
        if len(self._hosts) >= self._worlds:
            left = [h for h in self._hosts.values() if h.waiting]
            if not left:
                n = len(self._hosts)
                raise LineError(f"the server has room for {self._worlds} world(s), and {n} are being played")
            left[0].close()  # its client is gone, and another one is here
            del self._hosts[left[0].session]
        if (wait := self._too_many()) is not None:
            raise LineError(crowded(len(self._hosts), wait))
        session = secrets.token_urlsafe(24)
        folder = Path(tempfile.mkdtemp(prefix="foreland-world-"))
        host = Host(
            session, self._make, self._spec, folder, self._clock, lambda: self._over(session, folder), self._say
        )
        self._hosts[session] = host
        host.start()
        return host

    def _over(self, session: str, folder: Path) -> None:
        with self._lock:
            self._hosts.pop(session, None)
        shutil.rmtree(folder, ignore_errors=True)

    def close(self) -> None:
        """Ends all worlds; their clients are told."""
        with self._lock:
            for host in self._hosts.values():
                host.close()
