"""The Wan sampler: K latents jointly after a retained prefix, under every history policy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.control.conditions import Condition
from engine.models import buttons, rays
from engine.models.attention import (
    KeyValue,
    RotaryEmbedding,
    SequenceParallel,
    WindowCall,
    grid_rotary_embedding,
)
from engine.models.boundary_frames import BoundaryFrames
from engine.models.interface import (
    ConditionError,
    Decoder,
    Group,
    HistoryPolicy,
    ModelSpec,
    Request,
    Sampler,
    SamplerHost,
    StepCallback,
)
from engine.models.kv_cache import PrefixKVCache, prefix_positions
from engine.models.loading import empty_cache, say_less, wait_for
from engine.models.media_files import read_start
from engine.models.schedulers import denoise, make_solver, noise
from engine.models.wan import camera
from engine.models.wan.backbone import Backbone
from engine.models.wan.conditions import Text, WanConditions, WanInputs
from engine.models.wan.decoding import StreamDecoder
from engine.models.wan.sampling_config import SamplingConfig
from engine.models.wan.state import ConditioningLatents, WanState
from engine.models.wan.transport import WanTransport
from engine.models.wan.vae import VideoDecoder, WanVae

IMAGE_POLICIES = (HistoryPolicy.BOUNDARY_IMAGE, HistoryPolicy.LATENT_INPUT)
Control = NDArray[np.float64]
"""Of a latent; see `WanState`."""
REGISTERS = -1
"""Where the registers' keys and values are kept: before every latent."""
REGISTER_STEP = 256
"""Least distance of two slots of registers, in latents of rotary position."""
IMAGE_LATENTS = 29
"""Latents of an image condition; nothing of the image reaches a later one, since Wan's encoder looks back no further."""


class WanDecoder(StreamDecoder, Decoder):
    """The session's decoder, which also hands the last frame of each group to the sampler."""

    def __init__(self, decoder: VideoDecoder, frames: BoundaryFrames, **more: Any) -> None:
        super().__init__(decoder, **more)
        self._frames = frames

    def decode(self, group: Group) -> list[NDArray[np.uint8]]:
        out = super().decode(group)
        self._frames.put(group, out[-1])
        return out

    def resume(self, groups: Sequence[Group]) -> None:
        """Also hands on the frame before the branch, which image-conditioned calls begin with."""
        if len(groups) > 1:
            super().resume(groups[:-1])
        if groups:
            self.decode(groups[-1])

    def fork(self) -> Decoder:
        return WanDecoder(self._decoder, BoundaryFrames(), snapshots=self._most)


class WanSampler(Sampler[WanInputs]):
    """Samples a Wan checkpoint. Used from one thread, but for `prepare`."""

    prepares_slowly = True
    """`prepare` may read and run a text encoder: it belongs on a thread of its own."""

    def __init__(
        self,
        spec: ModelSpec,
        experts: Sequence[Backbone],
        conditions: WanConditions,
        vae: WanVae,
        config: SamplingConfig,
        decoder: VideoDecoder,
    ) -> None:
        """experts: one transformer, or two of which the first takes high noise levels. decoder: for boundary frames."""
        self.spec, self.config = spec, config
        self.frames = BoundaryFrames()
        self.conditions = conditions
        self._experts, self._vae = list(experts), vae
        self._decoder = decoder
        self._given: list[Tensor] = []
        self._device: torch.device = experts[0].device
        self._shape = (vae.channels, spec.height // vae.ratio, spec.width // vae.ratio)
        self._grid = experts[0].tokens(*self._shape[1:])
        self._groups: dict[int, Group] = {}
        self._stores = {
            (e, b): PrefixKVCache() for e in range(len(experts)) for b in range(2 if config.guidance != 1 else 1)
        }
        self._contexts: dict[tuple[int, int], tuple[Text, dict[int, KeyValue]]] = {}
        self._image_channels: Tensor | None = None
        self._start_picture: NDArray[np.uint8] | None = None
        """Of a model that takes it as extra channels."""
        self._longest = spec.windows[1]
        """K at most: less after the device's memory ran out."""
        self._ranked = False
        """Whether it is one of several ranks, which decides nothing by itself."""

    # -- the interface -------------------------------------------------------------------------------------------------

    def prepare(self, condition: Condition) -> WanInputs:
        return self.conditions.prepare(condition)

    @property
    def start_frames(self) -> int:
        """See `StartsFromFilms`."""
        return 1 if self.config.image == "channels" else 1 + 4 * max(0, self.spec.window - 2)

    def set_start(self, file: Path | None) -> None:
        given: list[Tensor] = []
        picture = None
        if file is not None:
            try:
                frames = read_start(file, self.spec, self.start_frames)
            except ValueError as e:
                raise ConditionError(str(e)) from e
            if self.config.image == "channels":
                picture = frames[0]
            else:
                given = list(self._vae.encode(frames).to(self._device))
        self._given, self._start_picture, self._image_channels = given, picture, None

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        self.spec.check_window(request.window)
        while True:
            request = replace(request, window=min(request.window, self._longest))
            try:
                with torch.inference_mode():
                    if request.history in IMAGE_POLICIES and request.branch > 0:
                        return self._after_image(request, report)
                    return self._after_prefix(request, report)
            except torch.OutOfMemoryError as e:
                # without the frames that it went through, which hold what the call had made
                out_of_memory = e.with_traceback(None)
            if not self._take_less(request):
                raise out_of_memory

    def _take_less(self, request: Request) -> bool:
        """After the device's memory ran out: a shorter history from now on, or shorter calls. Whether there was something to give up."""
        r = self.config
        if self._ranked:
            return False
        fewer = self.spec.half(request.window)
        if request.history not in IMAGE_POLICIES and r.history > r.block:
            shorter = max(r.block, r.history // 2)
            self.config = replace(r, history=shorter, sink=min(r.sink, shorter // 2))
            what = f"the history is {shorter} latents"
        elif fewer is not None and fewer > len(self._given):
            self._longest = fewer
            what = f"K is {fewer}"
        else:
            return False
        for store in self._stores.values():
            store.clear()
        self._contexts.clear()
        empty_cache(self._device)
        say_less(self.host, what)
        return True

    def extend(self, groups: Sequence[Group]) -> None:
        first = groups[0].position
        self._groups = {p: g for p, g in self._groups.items() if p < first}
        self._groups.update((g.position, g) for g in groups)
        for store in self._stores.values():
            store.drop(first, {g.position: g.latent for g in groups})

    def prefill_chunk(self, groups: Sequence[Group], history: HistoryPolicy) -> None:
        """With the call's groups on their way to the decoder: makes what the next call needs of them."""
        if history is HistoryPolicy.KV_REUSE:
            known = {p: g for p, g in self._groups.items() if p < groups[0].position}
            try:
                with torch.inference_mode():
                    for key in self._stores:
                        self._reuse(key, known | {g.position: g for g in groups}, list(groups))
            except torch.OutOfMemoryError:
                if self._ranked:
                    raise
                return  # the next call makes it, or takes less

    def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
        """One piece of work ahead of the next call, on groups below `locked`, which will surely play. Whether there was one."""
        if history is not HistoryPolicy.CLEAN_PREFILL:
            return False
        with torch.inference_mode():
            known = {p: g for p, g in self._groups.items() if p < locked}
            positions = prefix_positions(locked, self.config.history, self.config.sink, known)
            for key, store in self._stores.items():
                for used, groups in self._blocks(known, positions):
                    state: WanState = groups[0].state
                    whole = len(groups) == self.config.block or groups[-1].position + 1 >= state.start + len(
                        state.chunk
                    )
                    if whole and not self._there(store, used, self._cache_key(key, groups, None)):
                        self._prefill(key, groups, known, None)
                        return True
        return False

    def attach(self, host: SamplerHost) -> None:
        super().attach(host)
        self.frames.ask = host.decode_until

    def put_boundary_frame(self, position: int, frame: NDArray[np.uint8]) -> None:
        self.frames.put(self._groups[position], frame)

    def lose_boundary_frame(self, group: Group) -> None:
        self.frames.lose(group)

    def shard(self, parallel: Callable[[], SequenceParallel]) -> None:
        self._ranked = True
        for e in self._experts:
            e.shard(parallel())

    def transport(self) -> WanTransport:
        return WanTransport(self.conditions, self._device)

    def evict_before(self, position: int) -> None:
        r = self.config
        # whole blocks are kept: the KV of a latent depends on all latents that it is prefilled with
        oldest, sink = position - r.history - r.block, r.sink + r.block
        self._groups = {p: g for p, g in self._groups.items() if p >= oldest or p < sink}
        for key, store in self._stores.items():
            margin = 0 if self._all_reused(key, position) else r.block
            first = position - (r.history - r.sink) - margin
            store.evict(p for p in store.positions if p >= first or p < r.sink)

    def _all_reused(self, key: tuple[int, int], position: int) -> bool:
        """Whether all groups from a position on have the KV that they were sampled with: then no later pass begins before them."""
        store = self._stores[key]
        later = [g for p, g in self._groups.items() if p >= position]
        return bool(later) and all(store.get(g.position, self._reused(key, g)) is not None for g in later)

    def reset(self) -> None:
        self._groups.clear()
        self._contexts.clear()
        self.frames.clear()
        for store in self._stores.values():
            store.clear()

    def close(self) -> None:
        self.reset()
        self.conditions.close()
        self._experts.clear()
        empty_cache(self._device)

    # -- a call after retained KV --------------------------------------------------------------------------------------

    def _after_prefix(self, request: Request, report: StepCallback) -> list[Group]:
        prepared: WanInputs = request.prepared
        j, k = request.branch, request.window
        known = {p: g for p, g in self._groups.items() if p < j}
        if j and j - 1 not in known:
            raise KeyError(f"group {j - 1} is not kept: the call at {j} cannot continue it")
        given = [z for p, z in enumerate(self._given) if j <= p < j + k]
        if j == 0 and self.config.opens_with_start and 0 < len(given) < k:
            return self._opened(request, report, given)
        if j == 0 and self.config.first and len(given) < k and request.history not in IMAGE_POLICIES:
            return self._first_blocks(request, report, given)
        base = j + len(given)
        controls = self._controls(known.get(j - 1), prepared, k, j)
        new = k - len(given)
        latents = list(given)
        early = tuple(given)
        known = known | {
            j + i: Group(j + i, z, WanState(controls[i], prepared.text, j, early)) for i, z in enumerate(given)
        }
        if request.history in IMAGE_POLICIES:
            # only a session's first call comes here
            if self._given and not new:
                raise ValueError(
                    f"K = {k} leaves nothing to sample after {len(self._given)} given latents: use a larger K"
                )
            clean = self._sampled(request, report, {}, [], len(given), k - len(given), [], conditioning=given)
            latents = [*given, *clean]
        elif new:
            positions = prefix_positions(base, self.config.reach(k), self.config.sink, known)
            latents += list(self._sampled(request, report, known, positions, base, new, controls[len(given) :]))
        else:
            report(request.steps, request.steps)
        chunk = tuple(latents)
        return [Group(j + i, z, WanState(controls[i], prepared.text, j, chunk)) for i, z in enumerate(latents)]

    def _first_blocks(self, request: Request, report: StepCallback, given: Sequence[Tensor]) -> list[Group]:
        """A session's first call of a model whose first block is another than the later ones: what is given, that block where nothing is
        given or where it has levels of its own, then one of the full length, of which as much is used as makes K groups in all."""
        prepared: WanInputs = request.prepared
        r, k = self.config, request.window
        blocks: list[tuple[int, Request, tuple[float, ...]]] = []
        if not given or r.first_levels:
            steps = max(request.steps, len(r.first_levels))
            blocks.append((r.first, replace(request, steps=steps), r.first_levels or r.levels))
        if len(given) + sum(n for n, _, _ in blocks) < k:
            blocks.append((k, request, r.levels))
        controls = self._controls(None, prepared, len(given) + sum(n for n, _, _ in blocks), 0)
        groups: list[Group] = []

        def add(latents: Sequence[Tensor]) -> None:
            start, chunk = len(groups), tuple(latents)
            groups.extend(
                Group(start + i, z, WanState(controls[start + i], prepared.text, start, chunk))
                for i, z in enumerate(chunk)
            )

        if given:
            add(given)
        done, total = 0, sum(of_block.steps for _, of_block, _ in blocks)
        for n, of_block, levels in blocks:
            at = len(groups)
            known = {g.position: g for g in groups}
            positions = prefix_positions(at, r.reach(n), r.sink, known)
            add(
                self._sampled(
                    of_block, report, known, positions, at, n, controls[at:], progress=(done, total), levels=levels
                ).unbind()
            )
            done += of_block.steps
        return groups[:k]

    def _opened(self, request: Request, report: StepCallback, given: Sequence[Tensor]) -> list[Group]:
        """A session's first call of a model that samples its first block around what is given."""
        prepared: WanInputs = request.prepared
        k, n = request.window, len(given)
        controls = self._controls(None, prepared, k, 0)
        fresh = self._sampled(request, report, {}, [], n, k - n, controls, conditioning=given)
        chunk = (*given, *fresh)
        return [Group(i, z, WanState(controls[i], prepared.text, 0, chunk)) for i, z in enumerate(chunk)]

    def _sampled(
        self,
        request: Request,
        report: StepCallback,
        known: Mapping[int, Group],
        positions: list[int],
        base: int,
        k: int,
        controls: Sequence[Control],
        conditioning: Sequence[Tensor] = (),
        channels: Tensor | None = None,
        progress: tuple[int, int | None] = (0, None),
        levels: tuple[float, ...] | None = None,
    ) -> Tensor:
        """k new latents (k, z, h, w) at positions base.., after the KV of `positions` or after clean `conditioning` latents.

        progress: steps of the whole call that were taken before these, and in all. levels: in place of the model's own.
        """
        prepared: WanInputs = request.prepared
        r, n = self.config, len(conditioning)
        boundary = r.boundary if r.to_boundary and len(self._experts) > 1 else None
        levels = r.levels if levels is None else levels
        solver = make_solver(r.solver, request.steps, r.shift, levels=levels, boundary=boundary)
        start = self._noise(request, range(base, base + k), 0)
        calls: dict[tuple[int, int], WindowCall] = {}
        front = torch.stack([z.to(self._device) for z in conditioning]) if n else start[:0]
        extra = self._channels(range(base - n, base + k)) if channels is None else channels

        def fresh(step: int) -> Tensor:
            return self._noise(request, range(base, base + k), step + 1)

        def velocity(step: int, z: Tensor) -> Tensor:
            sigma, after = solver.timesteps[step], solver.timesteps[step + 1]
            e = self._expert(sigma)
            whole = torch.cat((front, z)).transpose(0, 1)[None]
            if extra is not None:
                whole = torch.cat((whole, extra), 1)
            out = []
            for b in range(1 if prepared.negative is None else 2):
                key = (e, b)
                if key not in calls:
                    calls[key] = self._call(key, known, positions, base - n, n + k, controls, request)
                text = prepared.text if b == 0 else prepared.negative
                assert text is not None
                calls[key].context_kv = self._context(key, text)
                sigmas = [0.0] * n + [sigma] * k
                out.append(
                    self._experts[e]
                    .velocity(whole, sigmas, after, text.embedding, calls[key])[0, :, n:]
                    .transpose(0, 1)
                )
            return out[0] if len(out) == 1 else out[1] + r.guidance * (out[0] - out[1])

        return denoise(solver, start, velocity, fresh, report, *progress, wait=lambda: wait_for(self._device))

    def _noise(self, request: Request, positions: range, step: int) -> Tensor:
        """Noise of groups (latents, z, h, w) on the device. It is made on the CPU, where a session can be replayed on any machine; a GPU
        goes on with what it was given meanwhile."""
        made = torch.stack([noise(self._shape, request.seed, p, request.attempt, step) for p in positions])
        if self._device.type == "cuda":
            return made.pin_memory().to(self._device, non_blocking=True)
        return made.to(self._device)

    def _context(self, key: tuple[int, int], text: Text) -> dict[int, KeyValue]:
        """Where an expert's keys and values of a text are kept, as long as the text is the same."""
        if key not in self._contexts or self._contexts[key][0] is not text:
            self._contexts[key] = text, {}
        return self._contexts[key][1]

    def _call(
        self,
        key: tuple[int, int],
        known: Mapping[int, Group],
        positions: list[int],
        first: int,
        length: int,
        controls: Sequence[Control],
        request: Request,
    ) -> WindowCall:
        """A window of `length` latents at `first` after the KV of `positions`."""
        if not positions:
            return self.window_call(first, length, None, None, [], controls)
        prefix, rotate, at = self._prefix(key, known, positions, first, request)
        return self.window_call(at, length, prefix, rotate, [known[p].state.control for p in positions], controls)

    def window_call(
        self,
        first: int,
        length: int,
        prefix: list[KeyValue] | None,
        rotate: RotaryEmbedding | None,
        past: Sequence[Control],
        controls: Sequence[Control],
    ) -> WindowCall:
        """A window of `length` latents at `first`. rotate: of the prefix, where its keys are not rotated. past, controls: what keys did in
        the prefix and do in the window."""
        cameras = None
        if self.config.keys == "camera" and len(controls) == length:
            cameras = camera.projections(
                controls, past if prefix is not None else [], self._grid[0] * self._grid[1], self._device
            )
        rotary, registers = self.rotation(first, length), 0
        if self.config.registers and prefix is None:
            before = self._register_rotation(first)
            rotary, registers = before.then(rotary), before.cos.shape[1]
        call = WindowCall(rotary, prefix, rotate, cameras=cameras, latents=length, registers=registers)
        if self.config.keys == "buttons":
            call.buttons = torch.from_numpy(np.stack(controls)).float()
        if self.config.keys == "rays":
            call.rays = rays.rays(controls[:length], self.spec.width, self.spec.height, self._shape[1] // self._grid[0])
        return call

    def _register_rotation(self, oldest: int) -> RotaryEmbedding:
        """Of the registers, which stand far before the oldest latent that a window sees."""
        slots, side = self.config.registers
        step = max(side * side, REGISTER_STEP)
        frames = torch.arange(-slots, 0) * step + oldest
        places = torch.arange(side)
        return grid_rotary_embedding(frames, places, places, self._experts[0].head_dim, self._device)

    def rotation(self, first: int, latents: int) -> RotaryEmbedding:
        """The rotary embedding of latents at `first` and after it, each of the whole grid of tokens. Only differences count, and angles
        are computed in double precision, so that positions may grow for ever."""
        rows, columns = (torch.arange(n) for n in self._grid)
        frames = torch.arange(first, first + latents)
        return grid_rotary_embedding(frames, rows, columns, self._experts[0].head_dim, self._device)

    # -- retained KV ---------------------------------------------------------------------------------------------------
    #
    # Keys are kept rotated at their own position, where they lie beside each other for the next call as they are. Those of the first
    # `sink` latents stand right before the others however far these have come, so they are rotated anew; with PRoPE all of them are,
    # since it wants keys that are not rotated.

    @property
    def _rotates_all(self) -> bool:
        return self.config.keys == "camera"

    def _prefix(
        self, key: tuple[int, int], known: Mapping[int, Group], positions: list[int], first: int, request: Request
    ) -> tuple[list[KeyValue], RotaryEmbedding | None, int]:
        """KV of the retained positions, made where it is not there; its rotation, where its keys are not rotated; and the position of a
        window after it."""
        store = self._stores[key]
        prepared: WanInputs = request.prepared
        if request.history is HistoryPolicy.KV_REUSE:
            for p in positions:
                group = known[p]
                if store.get(p, self._reused(key, group)) is None:
                    chunk = group.state.chunk
                    whole = [Group(group.state.start + i, z, group.state) for i, z in enumerate(chunk)]
                    self._reuse(key, {**known, **{g.position: g for g in whole if g.position >= p}}, whole)
        else:
            text = prepared.text if request.history is HistoryPolicy.RECACHE else None
            for used, groups in self._blocks(known, positions):
                if not self._there(store, used, self._cache_key(key, groups, text)):
                    self._prefill(key, groups, known, text)
        return *self._laid(key, positions, first), first

    def _laid(
        self, key: tuple[int, int], positions: Sequence[int], first: int
    ) -> tuple[list[KeyValue], RotaryEmbedding | None]:
        """The kept KV of positions before a window at `first`, and its rotation, where its keys are not rotated."""
        store, backbone, n = self._stores[key], self._experts[key[0]], len(positions)
        if self._rotates_all:
            return store.prefix(positions), self.rotation(first - n, n)
        at = {p: first - n + i for i, p in enumerate(positions)}
        turns = {p: self.rotation(at[p], 1) for p in positions if self._raw(p)}
        if self.config.registers:
            positions, turns[REGISTERS] = [REGISTERS, *positions], self._register_rotation(first - n)
        return store.prefix(positions, first, lambda p, keys: backbone.rotated(keys, turns[p])), None

    def _blocks(self, known: Mapping[int, Group], positions: Sequence[int]) -> list[tuple[list[int], list[Group]]]:
        """Positions by the groups that they are prefilled with: those of one call, on a grid that starts with it, whenever that
        happens. The positions may be some of a block only; the groups are all of it that are known."""

        def name(p: int) -> tuple[int, int]:
            state: WanState = known[p].state
            return id(state.chunk), (p - state.start) // self.config.block

        out: list[tuple[list[int], list[Group]]] = []
        last = None
        for p in positions:
            if name(p) != last:
                last = name(p)
                near = range(p - self.config.block, p + self.config.block)
                out.append(([], [known[q] for q in near if q in known and name(q) == last]))
            out[-1][0].append(p)
        return out

    @staticmethod
    def _there(store: PrefixKVCache, positions: Sequence[int], cache_key: object) -> bool:
        return all(store.get(p, cache_key) is not None for p in positions)

    def _text_of(self, key: tuple[int, int], text: Text) -> Text:
        if key[1] == 0:
            return text
        return self.conditions.text(self.config.negative)

    def _cache_key(self, key: tuple[int, int], groups: Sequence[Group], text: Text | None) -> tuple[object, ...]:
        """What the KV of a block depends on. text: of the recache policy; else each group's own."""
        under = self._text_of(key, groups[0].state.text if text is None else text)
        return ("clean", under.words, *(g.latent for g in groups))

    def _reused(self, key: tuple[int, int], group: Group) -> tuple[object, ...]:
        return ("reuse", self._text_of(key, group.state.text).words, group.latent)

    def _prefill(
        self, key: tuple[int, int], groups: Sequence[Group], known: Mapping[int, Group], text: Text | None
    ) -> None:
        """One forward over clean latents, which attend to themselves and to retained history that has KV of the same kind."""
        store, r = self._stores[key], self.config
        first = groups[0].position
        there = {
            p
            for used, past in self._blocks(known, prefix_positions(first, r.reach(r.block), r.sink, known))
            for p in used
            if store.get(p, self._cache_key(key, past, text)) is not None
        }
        under = self._text_of(key, groups[0].state.text if text is None else text)
        before = prefix_positions(first, r.reach(r.block), r.sink, there)
        self._keep(key, groups, under, known, before, lambda g: self._cache_key(key, groups, text))

    def _reuse(self, key: tuple[int, int], known: Mapping[int, Group], groups: Sequence[Group]) -> None:
        """The pass over a whole call's clean latents, as they were sampled: bidirectional, the later ones included."""
        store, r = self._stores[key], self.config
        first, reach = groups[0].position, r.reach(len(groups))
        positions = prefix_positions(first, reach, r.sink, known)
        there = {p for p in positions if store.get(p, self._reused(key, known[p])) is not None}
        before = prefix_positions(first, reach, r.sink, there)
        self._keep(key, groups, self._text_of(key, groups[0].state.text), known, before, lambda g: self._reused(key, g))

    def _keep(
        self,
        key: tuple[int, int],
        groups: Sequence[Group],
        text: Text,
        known: Mapping[int, Group],
        before: Sequence[int],
        cache_key: Callable[[Group], object],
    ) -> None:
        """Keeps the KV of clean latents after a prefix, for those of them that are the session's."""
        first, n = groups[0].position, len(groups)
        prefix, rotate = self._laid(key, before, first) if before else (None, None)
        past = [known[p].state.control for p in before]
        call = self.window_call(first, n, prefix, rotate, past, [g.state.control for g in groups])
        call.context_kv = self._context(key, text)
        call.capture_rotated = not call.registers and not any(self._raw(g.position) for g in groups)
        whole = torch.stack([g.latent for g in groups]).to(self._device).transpose(0, 1)[None]
        if (extra := self._channels(range(first, first + n))) is not None:
            whole = torch.cat((whole, extra), 1)
        backbone = self._experts[key[0]]
        made = backbone.keep(whole, self.config.context_noise, text.embedding, call)
        if m := call.registers:
            self._stores[key].put(REGISTERS, "registers", [(k[:, :m].clone(), v[:, :m].clone()) for k, v in made], True)
        mine = [i for i, g in enumerate(groups) if g.position in known and known[g.position].latent is g.latent]
        kept: dict[int, list[KeyValue]] = {i: [] for i in mine}
        made.reverse()
        while made:  # of each layer, when its groups have their own, the whole window's is let go
            pieces = [x[:, call.registers :].chunk(n, 1) for x in made.pop()]
            for i in mine:
                keys, values = (own[i] if n == 1 and not call.registers else own[i].clone() for own in pieces)
                if not (call.capture_rotated or self._raw(groups[i].position)):
                    keys = backbone.rotated(keys, self.rotation(groups[i].position, 1))
                kept[i].append((keys, values))
            del pieces
        for i, layers in kept.items():
            self._stores[key].put(groups[i].position, cache_key(groups[i]), layers, self._raw(groups[i].position))

    def _raw(self, position: int) -> bool:
        """Whether the keys of a latent are kept without rotation, for each call to rotate."""
        return self._rotates_all or (position < self.config.sink and not self.config.sink_stays)

    # -- a call after an image or latents ------------------------------------------------------------------------------

    def _after_image(self, request: Request, report: StepCallback) -> list[Group]:
        """Begins with the boundary frame as the clean first latent and, for latent input, retained latents after it, in the
        phase that they have in the model: one frame, then four each."""
        prepared: WanInputs = request.prepared
        j, k = request.branch, request.window
        if self.config.image is None:
            raise ValueError(f"{self.spec.name} takes no image: use another history policy")
        m = 0
        if request.history is HistoryPolicy.LATENT_INPUT and self.config.image == "clamp":
            m = min(self.config.keyframes, j - 1, k - 2)
        if k < m + 2:
            raise ValueError(f"K = {k} leaves nothing to play after a boundary image: use at least 2")
        for p in range(j - m - 1, j):
            if p not in self._groups:
                raise KeyError(f"group {p} is not kept: the call at {j} cannot begin with it")
        frame = self._frame(self._groups[j - m - 1])
        keyframes = [self._groups[p].latent for p in range(j - m, j)]
        controls = self._controls(self._groups[j - 1], prepared, k - m - 1, j)
        if self.config.image == "channels":
            extra = self._image_condition(frame, k)
            z = self._sampled(request, report, {}, [], j - 1, k, [], channels=extra)
            conditioning, fresh = ConditioningLatents(j, (z[0].clone(),)), z[1:]
        else:
            first = self._vae.encode(frame[None]).to(self._device)[0]
            conditioning = ConditioningLatents(j, (first, *keyframes))
            fresh = self._sampled(request, report, {}, [], j, k - m - 1, [], conditioning=conditioning.latents)
        chunk = tuple(fresh)
        return [
            Group(j + i, z, WanState(controls[i], prepared.text, j, chunk, conditioning)) for i, z in enumerate(chunk)
        ]

    def _frame(self, group: Group) -> NDArray[np.uint8]:
        """The last frame of a group: the decode worker's, or, where there is none, decoded here."""
        frame = self.frames.get(group)
        if frame is not None:
            return frame
        own = StreamDecoder(self._decoder)
        conditioning = group.state.conditioning
        first = 0 if conditioning is None else conditioning.position
        known = [self._groups[p] for p in sorted(self._groups) if first <= p <= group.position]
        if not known or known[0].position != first:
            raise KeyError(f"the frame before group {group.position + 1} cannot be decoded any more")
        for g in known:
            frames = own.decode(g)
        return frames[-1]

    def _channels(self, positions: range) -> Tensor | None:
        """Extra input channels (1, 4 + z, n, h, w) of positions, for transformers that take them: the start image's."""
        if self._experts[0].inputs == self._experts[0].channels:
            return None
        if self._image_channels is None:
            frame = self._start_picture
            if frame is None:
                frame = np.full((self.spec.height, self.spec.width, 3), 127, np.uint8)
            self._image_channels = self._image_condition(frame, IMAGE_LATENTS)
        whole = self._image_channels
        there = whole[:, :, min(positions.start, whole.shape[2] - 1) : positions.stop]
        more = len(positions) - there.shape[2]
        return torch.cat((there, there[:, :, -1:].expand(-1, -1, more, -1, -1)), 2) if more else there

    def _image_condition(self, frame: NDArray[np.uint8], latents: int) -> Tensor:
        """Mask and latents of [image, grey, grey, ...] as Wan's I2V models take them, (1, 4 + z, latents, h, w)."""
        encoded = self._vae.encode_before_grey(frame, latents).to(self._device)
        mask = torch.zeros(4, latents, *self._shape[1:], device=self._device)
        mask[:, 0] = 1
        return torch.cat((mask, encoded.transpose(0, 1)))[None]

    # -- small things --------------------------------------------------------------------------------------------------

    def _expert(self, sigma: float) -> int:
        return int(len(self._experts) > 1 and self.config.boundary is not None and sigma < self.config.boundary)

    def _controls(self, before: Group | None, prepared: WanInputs, k: int, branch: int) -> list[Control]:
        """What keys do to each latent. A pose is integrated from that of the group before the branch: a revocation rewinds it."""
        if self.config.keys == "buttons":
            first, held = (buttons.held(self.config.buttons, actions) for actions in (prepared.first, prepared.held))
            return [first if i == 0 else held for i in range(k)]
        start, onward = (
            (rays.start_motion, rays.onward) if self.config.keys == "rays" else (camera.start_pose, camera.onward)
        )
        pose = before.state.control if before is not None else start()
        out = []
        for i in range(k):
            if branch + i > 0:
                pose = onward(pose, prepared.first if i == 0 else prepared.held)
            out.append(pose)
        return out
