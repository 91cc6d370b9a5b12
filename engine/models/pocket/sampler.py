"""The pocket world behind the sampler interface."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine.control.conditions import Condition
from engine.models.attention import KeyValue, RotaryEmbedding, SequenceParallel, WindowCall, shard_blocks
from engine.models.catalogue import find
from engine.models.interface import (
    ConditionError,
    Decoder,
    Group,
    HistoryPolicy,
    ModelSpec,
    Request,
    Sampler,
    StepCallback,
)
from engine.models.kv_cache import PrefixKVCache, concat_kv
from engine.models.media_files import read_still
from engine.models.pocket import camera
from engine.models.pocket.camera import FRAMES_PER_GROUP, command
from engine.models.pocket.codec import CHANNELS, COLUMNS, ROWS, Codec
from engine.models.pocket.depth import DepthNet
from engine.models.pocket.memory import APART_YAW, Album, Place
from engine.models.pocket.network import (
    ATTRIBUTES,
    CONDITION,
    CONTROL,
    HISTORY,
    TOKENS,
    NetworkConfig,
    PocketNet,
    extra_inputs,
)
from engine.models.pocket.prompt_reader import LONGEST, Reader, Words
from engine.models.pocket.reprojection import Seen, encoded, reprojected
from engine.models.pocket.sampling_config import EASE, EMPHASIS, HISTORY_SIGMA, HOLD, LOOSE, SHIFT, firmness, held
from engine.models.pocket.soundscape import QUIET, Hearing, Mix, Soundscape, aimed, one_of
from engine.models.pocket.state import GroupState, PocketInputs
from engine.models.pocket.transport import PocketTransport
from engine.models.schedulers import denoise, make_solver, noise
from engine.playback.player import Frame, Samples

START_STEPS = 12
"""Steps of the first group of a world, where everything has to be made up."""
LEAN, MORPH = 1.0, 4
"""How far control latents go towards what the prompt newly names, and over how many groups they get there."""
AROUND, ANEW = (1.26, -1.26, 2.51, -2.51), 24.0
"""Where views of the land stand that nobody has seen yet, in radians from the heading, and the way after which there are new ones."""


class WeightsError(RuntimeError):
    """The weights are missing, truncated or of another make. The message says which file and what to do."""


@dataclass(frozen=True)
class PocketWeights:
    """Everything that was trained."""

    net: PocketNet
    codec: Codec
    reader: Reader
    depth: DepthNet
    starts: Tensor
    """(variants, biomes, times, weathers, CHANNELS, 10, 16): latents of start images, or with no variants."""
    card: dict[str, Any]

    @classmethod
    def load(cls, folder: Path) -> PocketWeights:
        """Reads pocket.safetensors and card.json. Raises WeightsError."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        file = folder / "pocket.safetensors"
        try:
            card = json.loads((folder / "card.json").read_text())
            state = load_file(str(file))
        except FileNotFoundError as e:
            raise WeightsError(
                f"{e.filename or file} is missing: restore the folder assets/pocket and start again"
            ) from e
        except (SafetensorError, ValueError, OSError) as e:
            raise WeightsError(f"{file} cannot be read ({e}): restore the folder assets/pocket and start again") from e
        net, codec, reader, depth = PocketNet(NetworkConfig(**card["network"])), Codec(), Reader(), DepthNet()
        for name, module in (("net", net), ("codec", codec), ("reader", reader), ("depth", depth)):
            part = {k[len(name) + 1 :]: v.float() for k, v in state.items() if k.startswith(name + ".")}
            try:
                module.load_state_dict(part)
            except RuntimeError as e:
                raise WeightsError(
                    f"{file} does not fit this version of Foreland: {str(e).splitlines()[-1].strip()}"
                ) from e
            module.eval().requires_grad_(False)
        starts = state.get("starts", torch.zeros(0, *ATTRIBUTES, CHANNELS, ROWS, COLUMNS))
        return cls(net, codec, reader, depth, starts.float(), card)

    def save(self, folder: Path) -> None:
        """Writes half precision, but the codec's transform in full."""
        from safetensors.torch import save_file

        state = {}
        for name, module in (("net", self.net), ("codec", self.codec), ("reader", self.reader), ("depth", self.depth)):
            for k, v in module.state_dict().items():
                full = name == "codec" and not k.startswith("refiner")
                state[f"{name}.{k}"] = v.contiguous().to(torch.float32 if full else torch.float16)
        state["starts"] = self.starts.contiguous().half()
        folder.mkdir(parents=True, exist_ok=True)
        save_file(state, str(folder / "pocket.safetensors"))
        (folder / "card.json").write_text(json.dumps(self.card, indent=2) + "\n")


class PocketSampler(Sampler[PocketInputs]):
    """Samples the pocket world by few-step flow matching with clean-prefilled prefix KV.

    A world begins after a start image that suits the prompt (position -1, never shown), or, without one, from noise alone.
    """

    def __init__(self, weights: PocketWeights, start_image: bool = True, spec: ModelSpec | None = None) -> None:
        """start_image: whether a world begins after one of the start images. spec: None for the catalogue's."""
        self.spec = spec or find("pocket").spec()
        self._net, self._codec, self._reader, self._depth = weights.net, weights.codec, weights.reader, weights.depth
        self._words = Words()
        self._starts = weights.starts if start_image else weights.starts[:0]
        self._start: Group | None = None
        self._given: Tensor | None = None
        self._album = Album()
        self._around: Place | None = None
        self._land: list[int] = []
        self._groups: dict[int, Group] = {}
        self._prefix = PrefixKVCache()

    def prepare(self, condition: Condition) -> PocketInputs:
        if len(condition.prompt) > self.spec.text_limit or len(self._words.tokens(condition.prompt)) > LONGEST:
            raise ConditionError(f"the prompt is too long: at most {self.spec.text_limit} characters are read")
        attributes = EMPHASIS * self._reader.read(self._words, condition.prompt)
        if condition.share < 1:
            before = EMPHASIS * self._reader.read(self._words, condition.before)
            attributes = before + (attributes - before) * condition.share
        held = command(condition.keys)
        return PocketInputs(attributes, held, command((*condition.keys, *condition.tapped)))

    def set_start(self, file: Path | None) -> None:
        """From a picture (or the last one of a film): a place in the model's terms, 128x80 and as its codec sees it."""
        if file is None:
            self._given = None
            return
        try:
            picture = read_still(file, self.spec)
        except ValueError as e:
            raise ConditionError(str(e)) from e
        self._given = self._codec.still(picture)

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        self.spec.check_window(request.window)
        prepared: PocketInputs = request.prepared
        with torch.inference_mode():
            return self._sample(request, prepared, report)

    def extend(self, groups: Sequence[Group]) -> None:
        first = groups[0].position
        self._groups = {p: g for p, g in self._groups.items() if p < first}
        self._prefix.drop(first)
        if first == 0 and (before := groups[0].state.before) is not None:
            same = self._start is not None and self._start.latent is before
            mix = groups[0].state.hearing.before
            self._groups[-1] = self._start if same and self._start is not None else _beginning(before, mix)
        self._groups.update((g.position, g) for g in groups)

    def prefill_step(self, locked: int, history: HistoryPolicy) -> bool:
        """Prefills one group more, revocable ones too: it is cheap, and the next call finds its history made."""
        if history is not HistoryPolicy.CLEAN_PREFILL:
            return False
        for p in sorted(self._groups):
            if self._prefix.get(p, self._groups[p]) is None:
                with torch.inference_mode():
                    self._kept(self._groups[p], self._groups, self._net.context(torch.zeros(1, CONDITION)))
                return True
        return False

    def shard(self, parallel: Callable[[], SequenceParallel]) -> None:
        shard_blocks(self._net.wan, self._net.holder, parallel())

    def transport(self) -> PocketTransport:
        return PocketTransport()

    def evict_before(self, position: int) -> None:
        if (shown := self._groups.get(position - 1)) is not None:
            self._album.add(shown.state.place, shown.latent)
            self._surround(shown)
        oldest = position - 2 * HISTORY
        self._groups = {p: g for p, g in self._groups.items() if p >= oldest}
        self._prefix.evict(p for p in self._prefix.positions if p >= oldest)

    def reset(self) -> None:
        self._groups.clear()
        self._prefix.clear()
        self._start = None
        self._album = Album()
        self._around, self._land = None, []

    def close(self) -> None:
        self.reset()

    # ------------------------------------------------------------------------------------------------------------------

    def _motion(
        self, before: Group | None, prepared: PocketInputs, tap: bool, k: int
    ) -> tuple[np.ndarray, np.ndarray, list[float]]:
        """Motion (K, 4, 5) of the window, frame poses (4 K, 5) relative to the branch, pitch before each group + end."""
        velocity = before.state.motion[-1] if before else np.zeros(5, np.float32)
        pitch = before.state.place.pitch if before else 0.0
        commands = np.repeat(prepared.held[None], k * FRAMES_PER_GROUP, 0)
        if tap:
            commands[:FRAMES_PER_GROUP] = prepared.first
        motion = camera.integrate(velocity, commands)
        pose, _ = camera.relative_pose(motion, pitch)
        levels = [pitch, *(pitch + float(x) for x in pose[FRAMES_PER_GROUP - 1 :: FRAMES_PER_GROUP, 4])]
        return motion.reshape(k, FRAMES_PER_GROUP, 5), pose, levels

    def _sample(self, request: Request, prepared: PocketInputs, report: StepCallback) -> list[Group]:
        """A call continues what is there; without a start image, a world begins with one group made from noise alone."""
        known = {p: g for p, g in self._groups.items() if p < request.branch}
        if request.branch and request.branch - 1 not in known:
            raise KeyError(f"group {request.branch - 1} is not kept: the call at {request.branch} cannot continue it")
        if request.branch == 0:
            if self._given is not None:
                self._start = _beginning(self._given, aimed(prepared.attributes.numpy(), QUIET.now))
            else:
                self._start = self._start_for(request, prepared)
            known = {} if self._start is None else {-1: self._start}
        if known:
            return self._window(request, prepared, known, request.branch, request.window, 0, request.steps, report)
        more = request.steps if request.window > 1 else 0
        first = self._window(request, prepared, known, 0, 1, 0, START_STEPS + more, report)
        if request.window == 1:
            return first
        known[0] = first[0]
        rest = self._window(request, prepared, known, 1, request.window - 1, START_STEPS, START_STEPS + more, report)
        return first + rest

    def _start_for(self, request: Request, prepared: PocketInputs) -> Group | None:
        """A start image for the prompt; what it does not say is drawn by the seed."""
        if not len(self._starts):
            return None
        rng = np.random.default_rng([request.seed, request.attempt, 29])
        index = [int(rng.integers(len(self._starts)))]
        for part, classes in zip(prepared.attributes.split([n + 1 for n in ATTRIBUTES]), ATTRIBUTES, strict=True):
            said = int(part.argmax())
            usual = 0 if classes == ATTRIBUTES[2] else int(rng.integers(classes))
            index.append(said if said < classes else usual)
        latent = self._starts[tuple(index)]
        if self._start is not None and torch.equal(self._start.latent, latent):
            return self._start
        return _beginning(latent, one_of((index[1], index[2], index[3])))

    def _surround(self, shown: Group) -> None:
        """Views of the land where it was not looked at yet, so that a turn finds something: start images of what it is, put into the
        album after every ANEW world units. What is seen there is sampled after them, and remembered as all else."""
        place, index = shown.state.place, _shown(shown)
        if index != self._land:
            # another land, time or weather: what was seen of the old one is not there any more
            self._land, self._around, self._album = index, None, Album()
            self._album.add(place, shown.latent)
        if not len(self._starts) or (self._around is not None and self._around.way(place) < ANEW):
            return
        self._around = place
        dice = np.random.default_rng([shown.position + 1, 31])
        order = dice.permutation(len(self._starts))
        for i, turn in enumerate(AROUND):
            view = Place(place.x, place.y, place.z, place.yaw + turn, 0.0)
            if not any(page.turn(view) < APART_YAW and page.way(view) < ANEW for page, _ in self._album.pages):
                self._album.add(view, self._starts[(int(order[i % len(order)]), *index)])

    def _leaning(
        self, control: Tensor, past: list[Group], request: Request, prepared: PocketInputs, pose: np.ndarray
    ) -> tuple[Tensor, Tensor]:
        """When the prompt has just changed what it names, control latents on their way there, over the first MORPH groups after the edit,
        and how far each group is, (1, K).

        Another land: towards one of its start images. Another light: row by row as the start images, which show the same places in
        every light, differ.
        """
        since = _since_edit(past, prepared)
        if since is None or not len(self._starts):
            return control, torch.zeros(1, control.shape[1])
        old = _shown(past[-1 - since])
        new = [there if now is None else now for now, there in zip(_said(prepared.attributes), old, strict=True)]
        share = ((since + 1 + torch.arange(control.shape[1])) / MORPH).clamp_max(1)[None, :, None, None, None]
        latents, cover = control[:, :, :CHANNELS], control[:, :, CHANNELS:]
        if new[0] != old[0]:
            variant = int(np.random.default_rng([request.seed, request.attempt, 29]).integers(len(self._starts)))
            start = self._starts[variant, new[0], new[1], new[2]]
            target = encoded(self._codec, self._ahead(self._codec.boundary(start[None]), pose, 0.0))
            latents = latents + LEAN * share * (target[:, :, :CHANNELS] - latents)
            cover = cover + share * (target[:, :, CHANNELS:] - cover)
        else:
            light = self._starts[:, new[0], new[1], new[2]] - self._starts[:, old[0], old[1], old[2]]
            latents = latents + LEAN * (share - since / MORPH) * light.mean((0, 3), keepdim=True)
        return torch.cat((latents, cover), 2), share.flatten(1)

    def _window(
        self,
        request: Request,
        prepared: PocketInputs,
        known: dict[int, Group],
        j: int,
        k: int,
        done: int,
        total: int,
        report: StepCallback,
    ) -> list[Group]:
        """Groups j .. j + k - 1 in `total - done` steps, after the known ones."""
        motion, pose, levels = self._motion(known.get(j - 1), prepared, j == request.branch, k)
        pitch = torch.tensor(levels)
        start = known[j - 1].state.place if j - 1 in known else Place()
        context = self._net.context(prepared.attributes[None])
        kept = request.history is HistoryPolicy.CLEAN_PREFILL
        history = [p for p in range(j - HISTORY, j) if p in known and kept]
        for p in sorted(known) if kept else ():
            # in order and each one once, so that it does not matter when: some may be there from idle time
            self._kept(known[p], known, context)
        prefix, prefix_rotary = self._prefilled([known[p] for p in history], known, context, levels[0])
        if j - 1 in known:
            boundary = self._codec.boundary(known[j - 1].latent[None])
            seen = self._album.fill(self._codec, self._depth, self._ahead(boundary, pose, levels[0]), start, pose)
            control = encoded(self._codec, seen)
            latest = [known[p] for p in range(j - MORPH, j) if p in known]
            control, changed = self._leaning(control, latest, request, prepared, pose)
        else:
            control, changed = torch.zeros(1, k, CONTROL, ROWS, COLUMNS), torch.zeros(1, k)
        position = torch.arange(k).float()[None]
        yaw = torch.from_numpy(pose[FRAMES_PER_GROUP - 1 :: FRAMES_PER_GROUP, 3])[None] * camera.FOCAL
        rotation = self._net.rotation(position, yaw, pitch[None, 1:] - levels[0])
        said = torch.tensor([False, True, True, True]).expand(k * TOKENS, -1)
        extra = extra_inputs(
            torch.from_numpy(motion)[None], pitch[None, :k], torch.zeros(1, k), prepared.attributes[None]
        )
        pure = torch.stack([noise((CHANNELS, ROWS, COLUMNS), request.seed, j + i, request.attempt) for i in range(k)])[
            None
        ]
        hold = self._hold(k, [known[p] for p in range(j - LOOSE[1], j) if p in known], prepared)
        hold = torch.maximum(hold, HOLD * changed)
        solver = make_solver("euler", request.steps if known else START_STEPS, SHIFT, EASE)
        call = WindowCall(rotation, prefix, prefix_rotary, context_mask=said, latents=k)

        def velocity(step: int, z: Tensor) -> Tensor:
            sigma = solver.sigmas[step]
            clean = self._net(z, control, torch.full((1, k), sigma), extra, context, call)
            return (z - held(clean, control, sigma, hold)) / sigma

        z = denoise(solver, pure, velocity, lambda step: pure, report, done, total)
        places = [start.onward(pose[(i + 1) * FRAMES_PER_GROUP - 1]) for i in range(k)]
        before = known[-1].latent if j == 0 and -1 in known else None
        hearing = known[j - 1].state.hearing if j - 1 in known else QUIET
        aim = aimed(prepared.attributes.numpy(), hearing.now)
        out = []
        for i in range(k):
            hearing = hearing.onward(aim, motion[i])
            state = GroupState(motion[i], levels[i], places[i], prepared.attributes, None if i else before, hearing)
            out.append(Group(j + i, z[0, i].clone(), state))
        return out

    @staticmethod
    def _hold(k: int, past: list[Group], prepared: PocketInputs) -> Tensor:
        """(1, k): how much each group of a window is held to what it re-projects; past: the groups before it."""
        since = _since_edit(past, prepared)
        return firmness((LOOSE[1] if since is None else since) + torch.arange(k))[None]

    def _ahead(self, frame: Tensor, pose: np.ndarray, pitch: float) -> Seen:
        """A window's frames from one (1, 80, 128, 3) that is seen at `pitch`."""
        level = torch.tensor([pitch])
        return reprojected(frame, self._depth(frame, level), torch.from_numpy(pose)[None], level)

    def _prefilled(
        self, groups: list[Group], known: Mapping[int, Group], context: Tensor, level: float
    ) -> tuple[list[KeyValue] | None, RotaryEmbedding | None]:
        """KV of the history, and its rotation about the branch, whose pitch is `level`."""
        if not groups:
            return None, None
        stores = [self._kept(g, known, context) for g in groups]
        return concat_kv(stores), self._rotation(groups, level)

    def _rotation(self, groups: Sequence[Group], level: float) -> RotaryEmbedding:
        """Of consecutive groups, about the end of the last one."""
        turned = [float(g.state.motion[:, 2].sum()) * camera.YAW_STEP * camera.FOCAL for g in groups]
        after = np.cumsum(turned[::-1])[::-1]
        yaw = torch.tensor([[*(-after[1:]), 0.0]], dtype=torch.float32)
        tilt = torch.tensor([[g.state.place.pitch - level for g in groups]])
        return self._net.rotation(torch.arange(-len(groups), 0).float()[None], yaw, tilt)

    def _kept(self, group: Group, among: Mapping[int, Group], context: Tensor) -> list[KeyValue]:
        """KV of a group, which attends to itself and to the HISTORY - 1 groups before it, as in training. It depends on these
        groups alone, not on when it is made."""
        p = group.position
        if (there := self._prefix.get(p, group)) is not None:
            return there
        past = [among[q] for q in range(p - HISTORY + 1, p) if q in among]
        known = [(g, kv) for g in past if (kv := self._prefix.get(g.position, g)) is not None]
        around = self._rotation([*(g for g, _ in known), group], group.state.place.pitch)
        n = TOKENS * len(known)
        here, rotate = (
            RotaryEmbedding(around.cos[:, n:], around.sin[:, n:]),
            RotaryEmbedding(around.cos[:, :n], around.sin[:, :n]),
        )
        silent = torch.tensor([True, False, False, False]).expand(TOKENS, -1)
        call = WindowCall(
            here, concat_kv([kv for _, kv in known]) if known else None, rotate if known else None, context_mask=silent
        )
        motion, pitch = torch.from_numpy(group.state.motion)[None, None], torch.tensor([[group.state.pitch]])
        extra = extra_inputs(motion, pitch, torch.ones(1, 1), torch.zeros(1, CONDITION))
        layers = self._net.prefill(group.latent[None, None], extra, context, call, HISTORY_SIGMA)
        self._prefix.put(p, group, layers)
        return layers


def _said(attributes: Tensor) -> list[int | None]:
    """What a prompt names: biome, time and weather, each None where it does not."""
    parts = attributes.split([n + 1 for n in ATTRIBUTES])
    return [None if (i := int(part.argmax())) == n else i for part, n in zip(parts, ATTRIBUTES, strict=True)]


def _since_edit(past: Sequence[Group], prepared: PocketInputs) -> int | None:
    """How many of the last groups were made under a prompt that names nothing else; None when all were."""
    said = _said(prepared.attributes)
    for since, g in enumerate(reversed(past)):
        if g.state.attributes is not None and _differ(_said(g.state.attributes), said):
            return since
    return None


def _shown(group: Group) -> list[int]:
    """The land, time and weather that a group has come to."""
    return [int(part.argmax()) for part in np.split(group.state.hearing.now, np.cumsum(ATTRIBUTES)[:-1])]


def _differ(a: list[int | None], b: list[int | None]) -> bool:
    """Whether two prompts name different things."""
    return any(x is not None and y is not None and x != y for x, y in zip(a, b, strict=True))


def _beginning(latent: Tensor, mix: Mix) -> Group:
    """A place that stands still before a world begins, and sounds like `mix`."""
    still = np.zeros((FRAMES_PER_GROUP, 5), np.float32)
    return Group(-1, latent, GroupState(still, 0.0, Place(), hearing=Hearing(mix, mix)))


class PocketDecoder(Decoder):
    """Decodes groups with the pocket codec and renders their sound; stateless, so a rewind costs nothing."""

    def __init__(self, weights: PocketWeights) -> None:
        self._codec = weights.codec
        self._soundscape = Soundscape()

    def sound(self, group: Group, start: int) -> Samples:
        return self._soundscape.render(group.state.hearing, start)

    def decode(self, group: Group) -> list[Frame]:
        with torch.inference_mode():
            frames = np.ascontiguousarray(self._codec.decode(group.latent[None])[0].numpy())
        frames.flags.writeable = False
        return list(frames)

    def rewind(self, position: int) -> None:
        return

    def reset(self) -> None:
        return

    def fork(self) -> PocketDecoder:
        return self
