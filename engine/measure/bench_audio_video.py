"""Times of joint models: calls by K, and the decode of the first group against the whole call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from engine.control.conditions import Condition
from engine.measure.timing import timed
from engine.models.audio_video.call import Call
from engine.models.audio_video.sampler import AudioVideoSampler
from engine.models.interface import Model, Request


def sampler(model: Model, windows: Sequence[int], steps: int, repeats: int) -> list[dict[str, Any]]:
    """Seconds of a call that begins with the frame before it, its denoising steps, and their share of what it plays; medians."""
    s = model.sampler
    assert isinstance(s, AudioVideoSampler)
    rows = []
    for k in windows:
        prepared = s.prepare(Condition(0, "a valley"))
        s.reset()
        model.decoder.reset()
        history = model.spec.history[0]
        groups = s.sample(Request(0, k, steps, 0, 0, prepared, history), lambda a, b: True)
        s.extend(groups)
        model.decoder.decode(groups[-1])
        branch = groups[-1].position + 1

        def call(branch: int = branch, k: int = k, prepared: Any = prepared, history: Any = history) -> list[Any]:
            return s.sample(Request(branch, k, steps, 0, 0, prepared, history), lambda a, b: True)

        seconds = timed(lambda: call() and None, repeats)["median"]
        played = sum(g.span or 0 for g in call()) / model.spec.fps
        rows.append(
            {
                "K": k,
                "steps": steps,
                "T": played,
                "call": seconds,
                "step": seconds / steps,
                "call_over_T": seconds / played,
            }
        )
    return rows


def decode(model: Model, window: int, repeats: int) -> dict[str, float]:
    """Seconds until the first group's frames are there, and the whole call's, in pictures and sound."""
    s = model.sampler
    assert isinstance(s, AudioVideoSampler)
    f = s.family
    spans = f.spans(window)
    video, audio = torch.randn(f.latent[0], window, *f.latent[1:]), torch.randn(*f.audio_shape(window))
    call = Call(video.to(f.device), audio.to(f.device), 0, 1, spans)

    def frames(n: int) -> None:
        with torch.inference_mode():
            pictures = f.pictures(call)
            for i in range(1, n):
                pictures.group(i)

    def sound() -> None:
        with torch.inference_mode():
            f.waveform(call.audio)

    first, whole = timed(lambda: frames(2), repeats)["median"], timed(lambda: frames(window), repeats)["median"]
    share = whole * spans[1] / sum(spans[1:])
    return {
        "first_group": first,
        "whole_call": whole,
        "first_over_share": first / share,
        "sound": timed(sound, repeats)["median"],
        "real_time": sum(spans[1:]) / model.spec.fps / whole,
    }
