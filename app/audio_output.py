"""Sound out of the machine: committed sound to the sound device, whose clock becomes the engine's.

PortAudio asks on a thread of its own; the answer comes from `engine.playback.audio.SoundReader`. A device that is
missing, taken away or changed is no reason to stop: it is reported once, looked for again, and the world plays on in
silence by the machine's clock.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from PySide6.QtCore import QObject, Signal

from app.language import tr
from engine.playback.audio import DeviceClock, SoundReader
from engine.playback.shared_player import SharedPlayer

log = logging.getLogger(__name__)

SILENT_SECONDS = 2.0
"""A device that asked for nothing for so long is taken for gone."""
AGAIN_SECONDS = 3.0
"""How long until a device is looked for again."""
BLOCK_SECONDS = 0.02
LATENCY_SECONDS = 0.08

Fill = Callable[[Any, int, float], None]
"""Fills a block: (frames, 2) float32 to write to, how many, and after how many seconds the first one is heard."""


class Stream(Protocol):
    """What an open device does."""

    latency: float
    rate: int

    def close(self) -> None: ...


class SoundError(RuntimeError):
    """There is no sound device, or it cannot be used; the message says why."""


class PortAudioStream:
    """The system's own device, or the one of that name."""

    def __init__(self, rate: int, fill: Fill, device: str = "") -> None:
        """Raises SoundError."""
        try:
            import sounddevice as sd
        except (ImportError, OSError) as e:
            raise SoundError(f"no sound: {e}; on Debian install libportaudio2") from e

        def callback(out: Any, frames: int, when: Any, status: Any) -> None:
            fill(out, frames, max(0.0, when.outputBufferDacTime - when.currentTime))

        try:
            sd._terminate()
            sd._initialize()  # PortAudio knows only the devices that were there when it began
            chosen = device or None
            try:
                sd.check_output_settings(chosen, 2, "float32", samplerate=rate)
                self.rate = rate
            except (sd.PortAudioError, ValueError):
                self.rate = int(sd.query_devices(chosen, "output")["default_samplerate"])
            self._stream = sd.OutputStream(
                samplerate=self.rate,
                blocksize=round(BLOCK_SECONDS * self.rate),
                device=chosen,
                channels=2,
                dtype="float32",
                latency=LATENCY_SECONDS,
                callback=callback,
            )
            self._stream.start()
        except (sd.PortAudioError, ValueError, OSError) as e:
            raise SoundError(tr("no sound device can be used ({error}); the world plays on in silence", error=e)) from e
        self.latency = float(self._stream.latency)

    def close(self) -> None:
        try:
            self._stream.abort()
            self._stream.close()
        except Exception as e:
            log.info("the sound device went away: %s", e)


class NullStream:
    """A dummy device that asks for blocks as a real one does: for machines without, and for tests."""

    def __init__(
        self, rate: int, fill: Fill, device: str = "", speed: float = 1.0, heard: Callable[[Any], None] | None = None
    ) -> None:
        self.rate, self.latency = rate, LATENCY_SECONDS
        self._fill, self._speed, self._heard = fill, speed, heard
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, name="foreland-null-sound", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        n = round(BLOCK_SECONDS * self.rate)
        began, asked = time.monotonic(), 0
        while not self._end.is_set():
            ahead = asked / self.rate - (time.monotonic() - began) * self._speed
            if ahead > self.latency:
                self._end.wait(ahead - self.latency + BLOCK_SECONDS / 2)
                continue
            block = np.zeros((n, 2), np.float32)
            self._fill(block, n, max(0.0, ahead))
            if self._heard is not None:
                self._heard(block)
            asked += n

    def unplug(self) -> None:
        """It asks for nothing any more, as a device that was pulled out."""
        self._end.set()

    def close(self) -> None:
        self.unplug()
        if threading.current_thread() is not self._thread:
            self._thread.join(2)


DEVICES: dict[str, Callable[[int, Fill, str], Stream]] = {"system": PortAudioStream, "null": NullStream}
"""What `--sound` may be, but for `off`."""


def device_names() -> list[str]:
    """Output devices by name; none where there is no PortAudio."""
    try:
        import sounddevice as sd

        return [d["name"] for d in sd.query_devices() if d["max_output_channels"] >= 2]
    except (ImportError, OSError):
        return []
    except Exception as e:
        log.info("the sound devices cannot be listed: %s", e)
        return []


class SoundOut(QObject):
    """Keeps one device open for the player on show. `poll` is called now and then from the Qt thread."""

    messagePosted = Signal(str)

    def __init__(self, open_: Callable[[int, Fill, str], Stream] | None, clock: DeviceClock) -> None:
        """open_: opens a device, None for no sound at all. clock: the engine's."""
        super().__init__()
        self._open, self._clock = open_, clock
        self._reader: SoundReader | None = None
        self._stream: Stream | None = None
        self._resampler: Any = None
        self._left = np.zeros((0, 2), np.float32)
        self._asked = 0
        self._last = self._next_try = 0.0
        self._told = ""
        self.device = ""
        self.volume, self.muted = 1.0, False

    @property
    def on(self) -> bool:
        """Whether a device plays."""
        return self._stream is not None

    @property
    def latency(self) -> float:
        """Seconds from the engine's clock to the ear; 0 without a device."""
        return self._stream.latency if self._stream is not None else 0.0

    def set_player(self, player: SharedPlayer) -> None:
        """Plays the sound of another player from now on."""
        same = self._reader is not None and self._reader.rate == player.rate
        reader = SoundReader(player) if player.rate else None
        if reader is not None:
            reader.volume = self._level()
        self._reader = reader
        if not same:
            self._shut()
        self._next_try = 0.0
        self.poll()

    def set_volume(self, volume: float, muted: bool) -> None:
        """volume in [0, 1]."""
        self.volume, self.muted = min(max(volume, 0.0), 1.0), muted
        if self._reader is not None:
            self._reader.volume = self._level()

    def choose(self, device: str) -> None:
        """Another device by name; '' for the system's own."""
        self.device, self._told = device, ""
        self._shut()
        self._next_try = 0.0
        self.poll()

    def poll(self) -> None:
        """Opens what should be open, and notices what went away."""
        now = time.monotonic()
        if self._stream is not None and now - self._last > SILENT_SECONDS:
            self._tell(tr("the sound device went away; the world plays on in silence until there is one again"))
            self._shut()
            self._next_try = now + AGAIN_SECONDS
        if self._stream is not None or self._reader is None or self._open is None or now < self._next_try:
            return
        self._next_try = now + AGAIN_SECONDS
        self._asked, self._last = 0, now
        try:
            stream = self._open(self._reader.rate, self._fill, self.device)
        except SoundError as e:
            self._tell(str(e))
            return
        self._resampler, self._left = None, np.zeros((0, 2), np.float32)
        if stream.rate != self._reader.rate:
            import av

            self._resampler = av.AudioResampler("fltp", "stereo", stream.rate)
        self._stream = stream
        if self._told:
            self._told = ""
            self.messagePosted.emit(tr("sound is back"))

    def close(self) -> None:
        self._open = None
        self._shut()

    def _shut(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.close()
        self._clock.lose()

    def _level(self) -> float:
        return 0.0 if self.muted else self.volume**2  # as the ear measures it

    def _tell(self, message: str) -> None:
        if message != self._told:
            self._told = message
            log.warning(message)
            self.messagePosted.emit(message)

    # -- the device's thread -------------------------------------------------------------------------------------------

    def _fill(self, out: Any, n: int, ahead: float) -> None:
        try:
            self._last = time.monotonic()
            reader, stream = self._reader, self._stream
            if reader is None or stream is None:
                out[:n] = 0
                return
            heard_at = self._last + ahead
            self._clock.observe(heard_at, self._asked / stream.rate)
            self._asked += n
            at = self._clock.at(heard_at)
            out[:n] = reader.pull(at, n) if self._resampler is None else self._resampled(reader, at, n, stream.rate)
        except Exception:
            log.exception("a block of sound could not be made")
            out[:n] = 0

    def _resampled(self, reader: SoundReader, at: float, n: int, rate: int) -> np.ndarray:
        """The device has another rate: the reader is read in its own and resampled once."""
        import av

        while len(self._left) < n:
            wanted = int(np.ceil((n - len(self._left)) * reader.rate / rate)) + 1
            block = reader.pull(at + len(self._left) / rate, wanted)
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(block.T), format="fltp", layout="stereo")
            frame.sample_rate = reader.rate
            parts = [f.to_ndarray().T for f in self._resampler.resample(frame)]
            self._left = np.concatenate([self._left, *parts]).astype(np.float32)
        now, self._left = self._left[:n], self._left[n:]
        return now
