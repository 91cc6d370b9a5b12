"""The second pocket world behind the sampler interface.

A call samples the ground that its K groups will reveal, jointly: group i's latent is the patch of ground latents that
comes within reach on its way and that no earlier group has. Known ground conditions it. Where nothing new comes
within reach there is nothing to sample.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from engine.control.conditions import Condition
from engine.models.catalogue import find
from engine.models.interface import (
    ConditionError,
    Decoder,
    Group,
    Request,
    Sampler,
    StepCallback,
    Stopped,
)
from engine.models.media_files import MediaError, read_still
from engine.models.pocket.soundscape import QUIET, Hearing, Soundscape
from engine.models.pocket2.camera import (
    EYE,
    FPS,
    FRAMES_PER_GROUP,
    LIFT_LIMIT,
    LIFT_STEP,
    MOVE_STEP,
    PITCH_LIMIT,
    PITCH_STEP,
    YAW_STEP,
    command,
    integrate,
)
from engine.models.pocket2.cells import CELL, CHANNELS, EDGE, KIND, LANDS, shape_of, standing
from engine.models.pocket2.fields import box_sizes, cells_around, height_at, surface, things_of, window_of
from engine.models.pocket2.ground import TILE, Ground
from engine.models.pocket2.network import GroundNet, sample
from engine.models.pocket2.render import Draw, Renderer
from engine.models.pocket2.start import SUFFIX, Likeness, Place, likeness, place_bytes, read_place
from engine.models.pocket2.things import NAMES, SHAPES
from engine.models.pocket2.words import Reading, read

# of the project, outside of this family
from engine.playback.player import Frame, Samples

Array = NDArray[np.float32]
POCKET2 = find("pocket2").spec()
START_STEPS = 16
"""Steps in which the ground that a world begins with is sampled, and that of another land after an edit."""
EDIT_STEPS = 8
AHEAD = 4
"""Cells beyond what is needed that are sampled too, so that walking does not need the network in every call."""
CONTEXT = 12
"""Known cells around new ones that the network sees."""
MORPH = 5
"""Groups over which another land takes the place of the old one."""
RELIGHT, NEAR_ENOUGH = 0.4, 0.02
"""Share of the way to another light that a group goes, and from where on it is there."""
ROOM = 4.0
"""World units that are kept from walls."""
DEEP, HOT = -5.0, -0.3
"""Heights of a ground under water, and under lava, that a walker does not go out over."""
FALL = ((0.0, 0.0), (0.55, 0.0), (0.0, 0.6), (1.0, 0.0))
"""How hard rain and snow fall for each of `FALLS`."""
STEEP = 1.15
"""Rise over run that stops a walker."""


@dataclass(frozen=True)
class Prepared:
    """Condition of a call. prompt, reading: its words and what they say; before, share: see Condition; held, first: commands
    (5,).
    """

    prompt: str
    reading: Reading
    before: Reading | None
    share: float
    held: Array
    first: Array


@dataclass(frozen=True)
class Patch:
    """A group's latent: cells of a rectangle from (i, j) on. where: (h, w), which of them are the group's; values:
    (CHANNELS, n) of those.
    """

    i: int
    j: int
    where: NDArray[np.bool_]
    values: Array

    @property
    def nbytes(self) -> int:
        return self.values.nbytes + self.where.nbytes


EMPTY = Patch(0, 0, np.zeros((0, 0), bool), np.zeros((CHANNELS, 0), np.float32))


@dataclass(frozen=True)
class GroupState:
    """What a group is decoded from, and continued after.

    poses: (4, 5) of x, y, z, yaw, pitch. velocity: (5,) at its end. lift: above eye height. ground: all that is known
    after it, of `land`. old: the ground and land that are being replaced; share: how far that has come, at its
    beginning and end. light: (2, 15) shares of lands, times and weathers, at its beginning and end. seed: of the sky.
    falling: (2, 2), how hard rain and snow fall, at its beginning and end.
    """

    poses: Array
    velocity: Array
    lift: float
    ground: Ground
    land: int
    light: Array
    seed: int
    falling: Array
    old: tuple[Ground, int] | None = None
    share: tuple[float, float] = (1.0, 1.0)
    hearing: Hearing = QUIET
    overruled: str | None = None
    """A prompt that says nothing, until there is another: the world began from a picture while it was in force."""


def place_noise(i: int, j: int, width: int, height: int, seed: int, attempt: int) -> Array:
    """Noise (CHANNELS, height, width) of the cells from (i, j) on: of each cell a function of seed, cell and attempt
    alone.
    """
    out = np.empty((CHANNELS, height, width), np.float32)
    for tj in range(j // TILE, (j + height - 1) // TILE + 1):
        for ti in range(i // TILE, (i + width - 1) // TILE + 1):
            rng = np.random.default_rng([seed & (2**63 - 1), ti + 2**24, tj + 2**24, attempt])
            tile = rng.standard_normal((CHANNELS, TILE, TILE), np.float32)
            x0, y0 = ti * TILE, tj * TILE
            a, b, c, d = max(i, x0), min(i + width, x0 + TILE), max(j, y0), min(j + height, y0 + TILE)
            out[:, c - j : d - j, a - i : b - i] = tile[:, c - y0 : d - y0, a - x0 : b - x0]
    return out


class Surroundings:
    """Ground and obstacles near a place, for planning a walk. radius: cells."""

    def __init__(self, ground: Ground, x: float, y: float, land: int, radius: int) -> None:
        i, j, n = int(np.floor(x / CELL)) - radius, int(np.floor(y / CELL)) - radius, 2 * radius + 1
        cells = cells_around(ground, i, j, n)
        self.maps = surface(cells, land)[:1]
        self.origin, self.extent = (i * CELL, j * CELL), n * CELL
        self.things = things_of(cells, i, j, land, self.maps)
        self.deep = HOT if LANDS[land] == "volcanic" else DEEP
        t = self.things
        self.box = t.index >= 100
        hx, hy, _ = box_sizes(t.index, t.size, t.tone)
        trunk = np.array([SHAPES[n].trunk for n in NAMES], np.float32)[np.where(self.box, 0, t.index)]
        grow = np.where(self.box, 0, (t.size + 1) / 2)
        rocks = [NAMES.index(n) for n in ("rock", "snowrock", "lavarock", "mesa", "spire")]
        wide = np.where(np.isin(t.index, rocks), 1.0 + grow, 1.0)
        self.half = (
            np.stack((np.where(self.box, hx, trunk * wide), np.where(self.box, hy, trunk * wide)), 1)
            + np.where(self.box, ROOM, 0.5)[:, None]
        )

    def height(self, x: Array, y: Array) -> Array:
        return height_at(self.maps, self.origin, self.extent, x, y)

    def level(self, x: float, y: float) -> float:
        """Height of the ground, below 0 under water."""
        j, i = ((v - o) / self.extent * self.maps.shape[1] for v, o in ((y, self.origin[1]), (x, self.origin[0])))
        n = self.maps.shape[1] - 1
        return float(self.maps[0, min(max(int(j), 0), n), min(max(int(i), 0), n)])

    def eye(self, x: float, y: float, lift: float) -> float:
        """Height of the eye: a smooth walk over the ground, never in it."""
        around = self.height(
            np.array([x, x - 5, x + 5, x, x], np.float32), np.array([y, y, y, y - 5, y + 5], np.float32)
        )
        return float(max(around.mean(), around[0] - 1.5) + EYE + lift)

    def blocked(self, x: float, y: float) -> bool:
        """Whether something stands there."""
        if not len(self.half):
            return False
        d = np.abs(self.things.where - np.array([x, y], np.float32))
        inside = (d < self.half).all(1)
        round_ = np.hypot(d[:, 0], d[:, 1]) < self.half[:, 0]
        return bool((np.where(self.box, inside, round_)).any())

    def stops(self, x: float, y: float, nx: float, ny: float) -> bool:
        """Whether a step is not to be had: into something, or up what is too steep."""
        if self.blocked(nx, ny) and not self.blocked(x, y):
            return True
        if self.level(nx, ny) < self.deep < self.level(x, y):
            return True
        way = float(np.hypot(nx - x, ny - y))
        if way < 1e-4:
            return False
        ahead = 3.0 / way
        h = self.height(
            np.array([x, x + (nx - x) * ahead], np.float32), np.array([y, y + (ny - y) * ahead], np.float32)
        )
        return bool(h[1] - h[0] > STEEP * 3.0)


def walk(
    state: tuple[float, float, float, float, float], velocity: Array, commands: Array, around: Surroundings
) -> tuple[Array, Array, Array]:
    """Poses (n, 5), velocities (n, 5) and lifts (n,) under commands (n, 5). state: x, y, yaw, pitch, lift.

    A walker slides along what stops it. Each frame depends on the one before and on the ground alone.
    """
    x, y, yaw, pitch, lift = state
    v = integrate(velocity, commands)
    poses, lifts = np.empty((len(v), 5), np.float32), np.empty(len(v), np.float32)
    for k, (f, s, w, p, up) in enumerate(v.astype(np.float64)):
        yaw += w * YAW_STEP
        c, n = np.cos(yaw), np.sin(yaw)
        dx, dy = (c * f - n * s) * MOVE_STEP, (n * f + c * s) * MOVE_STEP
        if dx or dy:
            for turn in (0.0, 0.5, -0.5, 1.0, -1.0, 1.4, -1.4):
                # a walker slides along what stops it, more slowly the more it has to turn aside
                e, g = np.cos(turn) ** 2, np.sin(turn) * np.cos(turn)
                a, b = e * dx - g * dy, g * dx + e * dy
                if not around.stops(x, y, x + a, y + b):
                    x, y = x + a, y + b
                    break
        pitch = float(np.clip(pitch + p * PITCH_STEP, -PITCH_LIMIT, PITCH_LIMIT))
        lift = float(np.clip(lift + up * LIFT_STEP, 0, LIFT_LIMIT))
        poses[k] = (x, y, around.eye(x, y, lift), yaw, pitch)
        lifts[k] = lift
    return poses, v, lifts


class PocketSampler(Sampler):
    """Samples ground by few-step flow matching, conditioned on the ground that is known."""

    def __init__(
        self,
        net: Callable[..., torch.Tensor] | GroundNet,
        reader: Callable[[str], list[list[float]]] | None = None,
        palettes: torch.Tensor | None = None,
    ) -> None:
        """reader: see `words.read`; palettes: see `start.likeness`."""
        self.spec = POCKET2
        self._net, self._reader, self._palettes = net, reader, palettes
        self._groups: dict[int, Group] = {}
        self._start: Likeness | Place | None = None

    def set_start(self, file: Path | None) -> None:
        """The next world begins from a picture, or the last one of a film, whose land, time and weather it takes, or from a
        place that was saved; None: from its prompt. Raises ConditionError.
        """
        if file is None:
            self._start = None
        elif file.suffix == SUFFIX:
            self._start = read_place(file)
        elif self._palettes is None:
            raise ConditionError("these weights cannot begin from a picture: begin from a prompt")
        else:
            try:
                self._start = likeness(read_still(file, self.spec), self._palettes)
            except MediaError as e:
                raise ConditionError(str(e)) from e

    def place(self, group: Group) -> tuple[str, bytes]:
        """See `KeepsPlaces`."""
        return SUFFIX, place_bytes(group)

    def prepare(self, condition: Condition) -> Prepared:
        if len(condition.prompt) > self.spec.text_limit:
            raise ConditionError(f"the prompt is too long: at most {self.spec.text_limit} characters are read")
        reading = read(condition.prompt, self._reader)
        before = read(condition.before, self._reader) if condition.share < 1 else None
        return Prepared(
            condition.prompt,
            reading,
            before,
            condition.share,
            command(condition.keys),
            command((*condition.keys, *condition.tapped)),
        )

    def reading(self, prepared: Prepared) -> str:
        """See `ReadsPrompts`."""
        return str(prepared.reading)

    def sample(self, request: Request, report: StepCallback) -> list[Group]:
        self.spec.check_window(request.window)
        with torch.inference_mode():
            return self._sample(request, request.prepared, report)

    def extend(self, groups: Sequence[Group]) -> None:
        first = groups[0].position
        self._groups = {p: g for p, g in self._groups.items() if p < first} | {g.position: g for g in groups}

    def evict_before(self, position: int) -> None:
        self._groups = {p: g for p, g in self._groups.items() if p >= position - 2}

    def reset(self) -> None:
        self._groups.clear()

    def close(self) -> None:
        self.reset()

    # ------------------------------------------------------------------------------------------------------------------

    def _sample(self, request: Request, prepared: Prepared, report: StepCallback) -> list[Group]:
        steps = _Steps(report)
        begins = request.branch == 0
        before = self._begin(request, prepared, steps) if begins else self._groups[request.branch - 1].state
        if before.overruled is not None:
            if prepared.prompt == before.overruled:
                prepared = replace(prepared, reading=SILENT, before=None)
            else:
                before = replace(before, overruled=None)
        land = _land_of(prepared, before)
        changed = land != before.land
        ground: Ground
        old: tuple[Ground, int] | None
        if changed:
            steps.total = EDIT_STEPS
            ground, old, done = Ground(), (before.ground, before.land), 0.0
        else:
            ground, old, done = before.ground, before.old, before.share[1]
        k = request.window
        commands = np.repeat(prepared.held[None], k * FRAMES_PER_GROUP, 0)
        commands[:FRAMES_PER_GROUP] = prepared.first
        last = before.poses[-1]
        radius = int(np.ceil((k * FRAMES_PER_GROUP * MOVE_STEP + 12) / CELL)) + 1
        if changed:
            # all that is within reach, before the way is planned on it
            patch, ground = self._revealed(
                ground, [(last[None], land)], request, EDIT_STEPS, steps, clear=(float(last[0]), float(last[1]))
            )
            first_patch = patch[0]
        around = Surroundings(ground, float(last[0]), float(last[1]), land, radius)
        state = (float(last[0]), float(last[1]), float(last[3]), float(last[4]), before.lift)
        poses, velocity, lifts = walk(state, before.velocity, commands, around)
        if changed or old is not None:
            # the eye rises or falls to the new ground along with it
            there = Surroundings(
                (old or (ground, land))[0], float(last[0]), float(last[1]), (old or (ground, land))[1], radius
            )
            for n in range(len(poses)):
                q = _eased(min(1.0, done + (n + 1) / FRAMES_PER_GROUP / MORPH))
                poses[n, 2] = q * poses[n, 2] + (1 - q) * there.eye(
                    float(poses[n, 0]), float(poses[n, 1]), float(lifts[n])
                )
        ways = [(poses[n * FRAMES_PER_GROUP : (n + 1) * FRAMES_PER_GROUP], land) for n in range(k)]
        if changed:
            steps.total += request.steps
        patches, grounds = self._joint(ground, ways, request, request.steps, steps)
        if changed:
            patches[0] = _merged(first_patch, patches[0])
        steps.finish(max(request.steps, 1))
        out = []
        hearing, light, falling = before.hearing, before.light[1], before.falling[1]
        for n in range(k):
            aim = _aim(prepared, light)
            after = light + (aim - light) * RELIGHT
            if np.abs(aim - after).max() < NEAR_ENOUGH:
                after = aim
            fall = falling + (_falling(prepared, falling) - falling) * np.float32(RELIGHT)
            share = (1.0, 1.0)
            if old is not None:
                share = (done, min(1.0, done + 1 / MORPH))
                done = share[1]
            part = slice(n * FRAMES_PER_GROUP, (n + 1) * FRAMES_PER_GROUP)
            moved = (
                np.concatenate((poses[max(0, part.start - 1) : part.start], poses[part]))
                if n
                else np.concatenate((last[None], poses[part]))
            )
            pace = np.diff(moved[:, :2], axis=0)
            motion = np.zeros((FRAMES_PER_GROUP, 5), np.float32)
            motion[:, 0] = np.hypot(pace[:, 0], pace[:, 1]) / MOVE_STEP
            hearing = hearing.onward(aim, motion)
            group_state = GroupState(
                poses[part],
                velocity[part.stop - 1],
                float(lifts[part.stop - 1]),
                grounds[n],
                land,
                np.stack((light, after)).astype(np.float32),
                before.seed,
                np.stack((falling, fall)),
                old,
                share,
                hearing,
                before.overruled,
            )
            out.append(Group(request.branch + n, patches[n], group_state))
            light, falling = after.astype(np.float32), fall
            if done >= 1.0:
                old = None
        return out

    def _begin(self, request: Request, prepared: Prepared, steps: _Steps) -> GroupState:
        """The state before the first group: ground all around, and a good place to stand."""
        start = self._start
        if isinstance(start, Place):
            fall = np.stack((start.falling, start.falling))
            return GroupState(
                start.pose[None],
                np.zeros(5, np.float32),
                start.lift,
                start.ground,
                start.land,
                np.stack((start.light, start.light)),
                request.seed,
                fall,
                hearing=Hearing(start.light, start.light),
            )
        dice = np.random.default_rng([request.seed & (2**63 - 1), request.attempt, 29])
        land, time = int(dice.integers(len(LANDS))), 1
        reading = prepared.reading
        if start is not None:
            reading = Reading(start.land, start.time, start.weather)
        land = land if reading.land is None else reading.land
        time = time if reading.time is None else reading.time
        light = _mix(land, time, 0 if reading.weather is None else reading.weather)
        steps.total = START_STEPS + request.steps
        nowhere = GroupState(
            np.zeros((1, 5), np.float32),
            np.zeros(5, np.float32),
            0.0,
            Ground(),
            land,
            np.stack((light, light)),
            request.seed,
            np.repeat(_falling(prepared, np.zeros(2, np.float32))[None], 2, 0) * (start is None),
            overruled=None if start is None else prepared.prompt,
        )
        _, ground = self._revealed(Ground(), [(np.zeros((1, 5), np.float32), land)], request, START_STEPS, steps)
        x, y, yaw = viewpoint(ground, land)
        around = Surroundings(ground, x, y, land, 4)
        pose = np.array([[x, y, around.eye(x, y, 0.0), yaw, 0.0]], np.float32)
        mix = light / 1.0
        return replace(nowhere, poses=pose, ground=ground, hearing=Hearing(mix, mix))

    def _revealed(
        self,
        ground: Ground,
        ways: list[tuple[Array, int]],
        request: Request,
        count: int,
        steps: _Steps,
        clear: tuple[float, float] | None = None,
    ) -> tuple[list[Patch], Ground]:
        patches, grounds = self._joint(ground, ways, request, count, steps, clear)
        return patches, grounds[-1]

    def _joint(
        self,
        ground: Ground,
        ways: list[tuple[Array, int]],
        request: Request,
        count: int,
        steps: _Steps,
        clear: tuple[float, float] | None = None,
    ) -> tuple[list[Patch], list[Ground]]:
        """What groups reveal on their ways (poses, land), sampled together, and the ground after each of them."""
        land = ways[0][1]
        rects = []
        for poses, _ in ways:
            at = [window_of(float(p[0]), float(p[1])) for p in poses]
            i0, j0 = min(a[0] for a in at) - EDGE, min(a[1] for a in at) - EDGE
            i1, j1 = max(a[0] + a[2] for a in at) + EDGE, max(a[1] + a[2] for a in at) + EDGE
            rects.append((i0, j0, i1, j1))
        missing = [n for n, r in enumerate(rects) if not ground.window(r[0], r[1], r[2] - r[0], r[3] - r[1])[1].all()]
        if not missing:
            return [EMPTY] * len(ways), [ground] * len(ways)
        # a little more than is needed, from the first group on that needs anything
        wide = [
            (r[0] - AHEAD, r[1] - AHEAD, r[2] + AHEAD, r[3] + AHEAD) if n >= missing[0] else None
            for n, r in enumerate(rects)
        ]
        some = [r for r in wide if r is not None]
        i0, j0, i1, j1 = (f(r[q] for r in some) for q, f in enumerate((min, min, max, max)))
        values, known = ground.window(i0, j0, i1 - i0, j1 - j0)
        rows, cols = np.nonzero(~known)
        a, b = max(i0, i0 + cols.min() - CONTEXT), min(i1, i0 + cols.max() + 1 + CONTEXT)
        c, d = max(j0, j0 + rows.min() - CONTEXT), min(j1, j0 + rows.max() + 1 + CONTEXT)
        # an even grid of four cells, so that the network sees places always in the same phase
        a, c = a // 4 * 4, c // 4 * 4
        w, h = -(-(b - a) // 4) * 4, -(-(d - c) // 4) * 4
        values, known = ground.window(a, c, w, h)
        new = self._made(values, known, land, a, c, request, count, steps)
        if clear is not None:
            _cleared(new, a, c, clear)
        patches, grounds = [], []
        for n, r in enumerate(wide):
            if r is None:
                patches.append(EMPTY)
                grounds.append(ground)
                continue
            _, there = ground.window(a, c, w, h)
            mine = np.zeros((h, w), bool)
            mine[max(0, r[1] - c) : max(0, r[3] - c), max(0, r[0] - a) : max(0, r[2] - a)] = True
            mine &= ~there
            pose = ways[n][0][-1]
            ground = ground.written(a, c, new, mine, (float(pose[0]), float(pose[1]))) if mine.any() else ground
            patches.append(Patch(a, c, mine, new[:, mine]) if mine.any() else EMPTY)
            grounds.append(ground)
        return patches, grounds

    def _made(
        self,
        values: Array,
        known: NDArray[np.bool_],
        land: int,
        i: int,
        j: int,
        request: Request,
        count: int,
        steps: Callable[[int], None],
    ) -> Array:
        """Cells (CHANNELS, h, w) from (i, j) on, where `values` are known or sampled in `count` steps."""
        noise = place_noise(i, j, known.shape[1], known.shape[0], request.seed, request.attempt)
        shares = torch.zeros(1, len(LANDS))
        shares[0, land] = 1
        mask = torch.from_numpy(known.astype(np.float32))[None, None]
        origin, given = torch.tensor([[i, j]]), torch.from_numpy(values)[None]
        return sample(self._net, given, mask, shares, torch.from_numpy(noise)[None], count, origin, steps)[0].numpy()


class _Steps:
    """Tells a report of the steps of a call that samples once or twice. Raises Stopped when told to."""

    def __init__(self, report: StepCallback) -> None:
        self._report, self._done, self.total = report, 0, 0

    def __call__(self, _: int) -> None:
        self._done += 1
        self.total = max(self.total, self._done)
        if not self._report(self._done, self.total) and self._done < self.total:
            raise Stopped

    def finish(self, least: int) -> None:
        """The last report, if there was none."""
        if self._done < max(self.total, least) or not self._done:
            self.total = max(self.total, least)
            self._done = self.total
            self._report(self._done, self.total)


SILENT = Reading(None, None, None)


def _eased(s: float) -> float:
    return s * s * (3 - 2 * s)


def _mix(land: int, time: int, weather: int) -> Array:
    out = np.zeros(15, np.float32)
    out[land] = out[8 + time] = out[12 + weather] = 1
    return out


def _aim(prepared: Prepared, light: Array) -> Array:
    """The light that a prompt asks for; what it does not say stays."""
    parts = []
    for n, (a, b) in enumerate(((0, 8), (8, 12), (12, 15))):
        now = _part(prepared.reading, n, light[a:b])
        if prepared.before is not None:
            was = _part(prepared.before, n, light[a:b])
            now = was + (now - was) * np.float32(prepared.share if n else float(prepared.share >= 0.5))
        parts.append(now)
    return np.concatenate(parts).astype(np.float32)


def _part(reading: Reading, n: int, now: Array) -> Array:
    said = (reading.land, reading.time, reading.weather)[n]
    return now if said is None else np.eye(len(now), dtype=np.float32)[said]


def _falling(prepared: Prepared, now: Array) -> Array:
    """(2,), how hard rain and snow are to fall."""
    reading = prepared.reading
    if prepared.before is not None and prepared.share < 0.5:
        reading = prepared.before
    return now if reading.fall is None else np.array(FALL[reading.fall], np.float32)


def _land_of(prepared: Prepared, before: GroupState) -> int:
    """A morph that is under way is gone through before another begins."""
    if before.old is not None and before.share[1] < 1:
        return before.land
    reading = prepared.reading
    if prepared.before is not None and prepared.share < 0.5 and prepared.before.land is not None:
        reading = prepared.before
    return before.land if reading.land is None else reading.land


def _cleared(cells: Array, i: int, j: int, place: tuple[float, float]) -> None:
    """Takes away what would stand on the walker."""
    u, v = place[0] / CELL - i, place[1] / CELL - j
    rows, cols = np.mgrid[: cells.shape[1], : cells.shape[2]]
    near = np.maximum(np.abs(cols + 0.5 - u), np.abs(rows + 0.5 - v)) < 2.0
    cells[KIND, near] = -3


def _merged(a: Patch, b: Patch) -> Patch:
    """Both patches as one."""
    if not b.where.size or not b.where.any():
        return a
    i, j = min(a.i, b.i), min(a.j, b.j)
    w = max(a.i + a.where.shape[1], b.i + b.where.shape[1]) - i
    h = max(a.j + a.where.shape[0], b.j + b.where.shape[0]) - j
    where, values = np.zeros((h, w), bool), np.zeros((CHANNELS, h, w), np.float32)
    for p in (a, b):
        part = np.s_[p.j - j : p.j - j + p.where.shape[0], p.i - i : p.i - i + p.where.shape[1]]
        where[part] |= p.where
        for c in range(CHANNELS):
            values[c][part][p.where] = p.values[c]
    return Patch(i, j, where, values[:, where])


def viewpoint(ground: Ground, land: int) -> tuple[float, float, float]:
    """A place (x, y) to begin at and where to look: dry, free, not in a hole, with things and water to be seen."""
    reach = 16
    around = 22
    n = 2 * (reach + around) + 1
    start = -(reach + around)
    cells, _ = ground.window(start, start, n, n)
    (level, path), there = shape_of(cells, land), standing(cells, land)[0]
    yy, xx = np.mgrid[:n, :n].astype(np.float32)
    best: tuple[float, int, int, float] = (-1e9, 0, 0, 0.0)
    turns = np.linspace(0, 2 * np.pi, 10, endpoint=False)
    for j in range(around, n - around, 3):
        for i in range(around, n - around, 3):
            close = there[j - 1 : j + 2, i - 1 : i + 2]
            if level[j, i] < 0.8 or close.any() or (LANDS[land] == "city" and path[j, i] < 0.3):
                continue
            near = level[j - 3 : j + 4, i - 3 : i + 4]
            still = float(level[j, i] - near.mean()) * 0.5 - float(near.std()) * 0.5
            dx, dy = xx - i, yy - j
            d = np.hypot(dx, dy)
            a = np.arctan2(dy, dx)
            ring = (d > 3) & (d < around)
            weight = np.where(there, 1.0, 0.0) * np.clip(1.4 - d / around, 0, 1) + np.where(level < 0, 0.02, 0)
            rise = np.clip((level - level[j, i] - 4) / np.maximum(d, 1) - 1.0, 0, 3) * (d < 8)
            for t in turns:
                view = ring & (np.cos(a - t) > 0.7)
                score = (
                    still
                    + min(float((weight * view).sum()), 14) * 0.35
                    - float((rise * view).sum()) * 0.3
                    + 0.6 * float(path[j, i] > 0)
                )
                score -= 3.0 * float((there & (d < 4.5) & (np.cos(a - t) > 0.8)).sum())
                if LANDS[land] == "city":
                    along = (d < 16) & (np.cos(a - t) > 0.985)
                    score += 8.0 * float((path[along] > 0).mean())
                if score > best[0]:
                    best = (score, i, j, float(t))
    _, i, j, t = best
    return float((i + start + 0.5) * CELL), float((j + start + 0.5) * CELL), float(t)


class PocketDecoder(Decoder):
    """Renders groups. Each group's state says all, so a rewind costs nothing and any group can be decoded at any
    time.
    """

    independent_groups = True

    def __init__(self, atlas: list[Array], draw: Draw, soundscape: Soundscape | None = None) -> None:
        """atlas: textures of things, see `Textures.atlas`; draw: makes pictures of buffers."""
        self._atlas, self._draw = atlas, draw
        self._renderer = Renderer(atlas, draw)
        self._soundscape = soundscape or Soundscape()

    def decode(self, group: Group) -> list[Frame]:
        s: GroupState = group.state
        with torch.inference_mode():
            start = group.position * FRAMES_PER_GROUP / FPS
            frames = self._renderer.frames(s.ground, s.land, s.poses, s.light, s.seed, s.old, s.share, start, s.falling)
        for f in frames:
            f.flags.writeable = False
        return frames

    def sound(self, group: Group, start: int) -> Samples:
        return self._soundscape.render(group.state.hearing, start)

    def rewind(self, position: int) -> None:
        return

    def resume(self, groups: Sequence[Group]) -> None:
        return

    def fork(self) -> Decoder:
        return PocketDecoder(self._atlas, self._draw, self._soundscape)

    def reset(self) -> None:
        return
