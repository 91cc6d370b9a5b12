"""Sound of groups as Opus and back, each group by itself and of exactly its length.

A lone piece of Opus begins badly: the decoder needs some 80 ms to settle. So the end of the group before is encoded once more in front
of each group, and cut off after decoding (RFC 7845, section 4.6, calls it pre-roll). Rates that Opus has not go as 16-bit samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import av
import numpy as np
from av.audio.codeccontext import AudioCodecContext

from engine.errors import Refused
from engine.playback.player import Samples

OPUS_RATES = (8000, 12000, 16000, 24000, 48000)
BITS = 96_000
"""A second, of stereo."""
PACKET_SECONDS = 0.02
PREROLL_SECONDS = 0.08
LARGEST_SECONDS = 60.0
"""Of a group; more is no group."""


class NotAudible(Refused):
    """What came is no sound of this rate."""


class SoundEncoder:
    """One world's sound. Used from one thread."""

    def __init__(self, rate: int) -> None:
        """rate: samples a second."""
        self.rate = rate
        self._before = np.zeros((round(PREROLL_SECONDS * rate), 2), np.float32)

    def encode(self, sound: Samples) -> list[bytes]:
        """Packets of a group's sound, (samples, 2)."""
        if self.rate not in OPUS_RATES:
            return [(np.clip(sound, -1, 1) * 32767).astype("<i2").tobytes()]
        preroll = len(self._before)
        whole = np.concatenate([self._before, sound])
        self._before = whole[len(whole) - preroll :]
        context = av.CodecContext.create("libopus", "w")
        assert isinstance(context, AudioCodecContext)
        context.sample_rate, context.layout, context.format = self.rate, "stereo", "flt"
        context.bit_rate, context.time_base = BITS, Fraction(1, self.rate)
        context.open()
        packet = round(PACKET_SECONDS * self.rate)
        # the codec's own delay, and whole packets
        missing = packet - (len(whole) % packet) + packet
        whole = np.concatenate([whole, np.zeros((missing, 2), np.float32)])
        out: list[bytes] = []
        for at in range(0, len(whole), packet):
            flat = np.ascontiguousarray(whole[at : at + packet]).reshape(1, -1)
            frame = av.AudioFrame.from_ndarray(flat, format="flt", layout="stereo")
            frame.sample_rate, frame.pts = self.rate, at
            out += [bytes(p) for p in context.encode(frame)]
        return out + [bytes(p) for p in context.encode(None)]


def decoded_sound(packets: Sequence[bytes], rate: int, samples: int) -> Samples:
    """(samples, 2) of a group. Raises NotAudible."""
    if samples > LARGEST_SECONDS * rate:
        raise NotAudible(f"a group of {samples} samples")
    if rate not in OPUS_RATES:
        raw = b"".join(packets)
        if len(raw) != samples * 4:
            raise NotAudible(f"{len(raw)} bytes are not {samples} samples")
        out: Samples = (np.frombuffer(raw, "<i2") / 32767).astype(np.float32).reshape(-1, 2)
    else:
        out = _opus(packets, rate)
        # libopus looks ahead by 6.5 ms; FFmpeg's decoder gives all that was put in, at 48 kHz
        skip = round(PREROLL_SECONDS * rate) + round(DELAY_SECONDS * rate)
        out = out[skip : skip + samples]
        if len(out) != samples:
            raise NotAudible(f"{len(out)} samples came of {samples}")
    out = np.ascontiguousarray(out)
    out.flags.writeable = False
    return out


DELAY_SECONDS = 0.0065
"""Of libopus in its default application, audio."""


def _opus(packets: Sequence[bytes], rate: int) -> Samples:
    context = av.CodecContext.create("opus", "r")
    assert isinstance(context, AudioCodecContext)
    context.layout, context.sample_rate = "stereo", 48_000
    parts: list[Samples] = []
    resampler = av.AudioResampler("flt", "stereo", rate)
    try:
        for packet in packets:
            for frame in context.decode(av.Packet(packet)):
                parts += [
                    f.to_ndarray().astype(np.float32, copy=False).reshape(-1, 2) for f in resampler.resample(frame)
                ]
        parts += [f.to_ndarray().astype(np.float32, copy=False).reshape(-1, 2) for f in resampler.resample(None)]
    except (av.FFmpegError, ValueError, MemoryError) as e:
        raise NotAudible(f"a sound cannot be decoded: {e}") from e
    return np.concatenate(parts) if parts else np.zeros((0, 2), np.float32)
