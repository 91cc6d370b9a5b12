"""Groups of frames as H.264 and back. The encoder looks ahead at nothing: what goes in comes out at once.

`Coded` is a group as it came over the line. It knows the groups before it back to the last key frame, so that a kept one can be decoded
again by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import av
import numpy as np
from av.codec.context import Flags
from av.video.codeccontext import VideoCodecContext
from av.video.frame import PictureType
from av.video.reformatter import Interpolation, VideoReformatter

from engine.errors import Refused
from engine.models.interface import Decoder, Group, ModelSpec
from engine.playback.player import Frame, Samples

CRF = 23
"""Constant quality of x264: 35 to 38 dB at 832x480."""
KEY_EVERY = 32
"""Groups from one key frame to the next: a kept group is decoded again from the key frame before it."""


class NotDecodable(Refused):
    """What came is no picture of this size."""


class PictureEncoder:
    """One stream. Used from one thread."""

    def __init__(self, width: int, height: int, fps: float, crf: int = CRF) -> None:
        """Sizes in pixels, both even. crf: as in x264, smaller is better."""
        context = av.CodecContext.create("libx264", "w")
        assert isinstance(context, VideoCodecContext)
        rate = Fraction(fps).limit_denominator(1001)
        context.width, context.height, context.pix_fmt = width, height, "yuv420p"
        context.time_base, context.framerate = 1 / rate, rate
        context.thread_count = 1
        context.options = {
            "preset": "ultrafast",
            "tune": "zerolatency",
            "crf": str(crf),
            "x264-params": "keyint=infinite:scenecut=0:repeat-headers=1",
        }
        self._context = context
        self._colours = VideoReformatter()
        self._frames = 0
        self._since_key = 0
        self._key_wanted = True
        self.crf = crf

    def want_key(self) -> None:
        """The next group can be decoded without those before it."""
        self._key_wanted = True

    def encode(self, frames: Sequence[Frame]) -> tuple[bool, list[bytes]]:
        """Whether the group begins with a key frame, and one packet a frame."""
        key = self._key_wanted or self._since_key >= KEY_EVERY
        out: list[bytes] = []
        for i, image in enumerate(frames):
            given = av.VideoFrame.from_ndarray(image, format="rgb24")
            # chroma of every other pixel: as good as an average (0.1 dB), in two thirds of the time
            frame = self._colours.reformat(given, format="yuv420p", interpolation=Interpolation.POINT)
            frame.pts = self._frames
            frame.pict_type = PictureType.I if key and i == 0 else PictureType.NONE
            self._frames += 1
            out += [bytes(packet) for packet in self._context.encode(frame)]
        if len(out) != len(frames):
            raise RuntimeError(f"{len(frames)} frames became {len(out)} packets")
        self._key_wanted, self._since_key = False, 1 if key else self._since_key + 1
        return key, out


class PictureDecoder:
    """One stream. Used from one thread."""

    def __init__(self, width: int, height: int) -> None:
        """Sizes in pixels; pictures of another size are refused."""
        context = av.CodecContext.create("h264", "r")
        assert isinstance(context, VideoCodecContext)
        context.thread_count = 1
        context.flags |= Flags.low_delay
        context.options = {"max_pixels": str(width * height + 64 * (width + height) + 4096)}  # whole macroblocks
        self._context = context
        self._width, self._height = width, height

    def decode(self, packets: Sequence[bytes]) -> list[Frame]:
        """One frame a packet. Raises NotDecodable."""
        out: list[Frame] = []
        try:
            for packet in packets:
                for frame in self._context.decode(av.Packet(packet)):
                    if (frame.width, frame.height) != (self._width, self._height):
                        raise NotDecodable(f"a picture of {frame.width}x{frame.height} came")
                    image = frame.to_ndarray(format="rgb24").astype(np.uint8, copy=False)
                    image.flags.writeable = False
                    out.append(image)
        except (av.FFmpegError, ValueError, MemoryError) as e:
            raise NotDecodable(f"a picture cannot be decoded: {e}") from e
        if len(out) != len(packets):
            raise NotDecodable(f"{len(packets)} packets became {len(out)} pictures")
        return out


@dataclass(frozen=True, eq=False)
class Coded:
    """A group as it came. before: the one before it; None for one with a key frame. No packets: the last picture, held."""

    packets: tuple[bytes, ...]
    span: int
    before: Coded | None
    sound: Samples | None = None

    @property
    def nbytes(self) -> int:
        """Memory of it, without those before it."""
        return sum(len(p) for p in self.packets) + (0 if self.sound is None else self.sound.nbytes)

    def chain(self) -> list[Coded]:
        """From the key frame on, this one last."""
        out: list[Coded] = []
        here: Coded | None = self
        while here is not None:
            out.append(here)
            here = here.before
        return out[::-1]


class KeptDecoder(Decoder):
    """Decodes `Coded` groups again, for looking back at them."""

    def __init__(self, spec: ModelSpec) -> None:
        """spec: of the model that made them."""
        self.spec = spec
        self._stream: PictureDecoder | None = None
        self._last: Coded | None = None
        self._image: Frame = np.zeros((spec.height, spec.width, 3), np.uint8)

    def decode(self, group: Group) -> list[Frame]:
        """See `Decoder.decode`."""
        coded: Coded = group.latent
        chain = coded.chain()
        if self._stream is None or self._last is None or coded.before is not self._last:
            self._stream = PictureDecoder(self.spec.width, self.spec.height)
        else:
            chain = chain[-1:]
        frames: list[Frame] = []
        for part in chain:
            frames = self._stream.decode(part.packets) if part.packets else [self._image] * part.span
            self._image = frames[-1]
        self._last = coded
        return frames

    def sound(self, group: Group, start: int) -> Samples | None:
        """See `MakesSound.sound`."""
        coded: Coded = group.latent
        return coded.sound

    def rewind(self, position: int) -> None:
        """Nothing: each group knows what it needs."""

    def reset(self) -> None:
        """Nothing: each group knows what it needs."""

    def resume(self, groups: Sequence[Group]) -> None:
        """Nothing: each group knows what it needs."""
