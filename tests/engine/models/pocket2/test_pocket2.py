"""The second pocket world: memory, revocation, stillness, closure."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
import torch

# of the project, outside of this family
from engine.control.conditions import Condition
from engine.models.interface import Group, HistoryPolicy, Request, Stopped
from engine.models.pocket2.camera import FRAMES_PER_GROUP, command
from engine.models.pocket2.cells import CHANNELS, KIND, LANDS
from engine.models.pocket2.drawing import Drawer, LayerDrawer, Textures
from engine.models.pocket2.fields import window_of
from engine.models.pocket2.gbuffer import planes, resting
from engine.models.pocket2.ground import LIMIT, Ground
from engine.models.pocket2.load import Weights, shipped
from engine.models.pocket2.model import POCKET2, PocketDecoder, PocketSampler, place_noise
from engine.models.pocket2.render import Renderer
from engine.models.pocket2.words import read


def smoothing(z: torch.Tensor, known: torch.Tensor, mask: torch.Tensor, *_: torch.Tensor) -> torch.Tensor:
    """A stand-in for the ground sampler's network: what is around, blurred."""
    x = torch.nn.functional.avg_pool2d(z * (1 - mask) + known * mask, 5, 1, 2)
    x[:, KIND] -= 1.2
    x[:, 0] += 0.8
    return x


def sampler() -> PocketSampler:
    return PocketSampler(smoothing)


@pytest.fixture(scope="module")
def decoder() -> PocketDecoder:
    torch.manual_seed(0)
    return PocketDecoder(
        Textures().eval().requires_grad_(False).atlas(), LayerDrawer(Drawer().eval().requires_grad_(False))
    )


def call(
    s: PocketSampler,
    branch: int,
    window: int = 3,
    keys: Sequence[str] = (),
    prompt: str = "meadow at noon",
    seed: int = 4,
    attempt: int = 0,
) -> list[Group]:
    prepared = s.prepare(Condition(0, prompt, tuple(keys)))
    return s.sample(
        Request(branch, window, 3, seed, attempt, prepared, HistoryPolicy.LATENT_INPUT), lambda done, total: True
    )


def same(a: Group, b: Group) -> bool:
    """Whether two groups are equal in all that they are decoded from and continued after."""
    x, y = a.state, b.state
    equal = a.position == b.position and np.array_equal(x.poses, y.poses) and np.array_equal(x.light, y.light)
    equal &= np.array_equal(a.latent.values, b.latent.values) and np.array_equal(a.latent.where, b.latent.where)
    return bool(equal and _cells(x.ground) == _cells(y.ground))


def _cells(ground: Ground) -> dict[tuple[int, int], bytes]:
    return {t: v.tobytes() + k.tobytes() for t, (v, k) in ground.tiles.items()}


def test_a_revoked_suffix_leaves_no_trace() -> None:
    plain, other = sampler(), sampler()
    first = call(plain, 0, 4)
    plain.extend(first)
    other.extend(call(other, 0, 4))
    # one of them walks somewhere, which is revoked from the third group on
    other.extend(call(other, 4, 7, ("forward", "turn_left")))
    other.extend(call(other, 11, 7, ("forward",), "desert at night"))
    for a, b in zip(call(plain, 2, 7, ("forward",)), call(other, 2, 7, ("forward",)), strict=True):
        assert same(a, b)


def test_a_call_changes_nothing_that_is_kept() -> None:
    s = sampler()
    s.extend(call(s, 0, 2))
    a = call(s, 2, 7, ("forward",))
    call(s, 2, 7, ("back",))
    assert all(same(x, y) for x, y in zip(a, call(s, 2, 7, ("forward",)), strict=True))


def test_a_group_holds_what_it_reveals_and_the_ground_after_it_has_all() -> None:
    s = sampler()
    s.extend(call(s, 0, 1))
    groups = call(s, 1, 21, ("forward",))
    assert sum(int(g.latent.where.sum()) for g in groups) > 0
    for g in groups:
        for p in g.state.poses:
            i, j, n = window_of(float(p[0]), float(p[1]))
            assert g.state.ground.window(i, j, n, n)[1].all()
    before = s._groups[0].state.ground.cells
    assert groups[-1].state.ground.cells == before + sum(int(g.latent.where.sum()) for g in groups)


def test_what_is_known_is_never_sampled_again() -> None:
    s = sampler()
    s.extend(call(s, 0, 1))
    old = s._groups[0].state.ground
    new = call(s, 1, 21, ("forward",))[-1].state.ground
    for t, (values, known) in old.tiles.items():
        assert np.array_equal(new.tiles[t][0][:, known], values[:, known])


def test_noise_is_a_function_of_seed_place_and_attempt() -> None:
    a = place_noise(-20, 5, 40, 30, 7, 0)
    assert np.array_equal(a[:, 3:20, 10:30], place_noise(-10, 8, 20, 17, 7, 0))
    assert not np.array_equal(a, place_noise(-20, 5, 40, 30, 8, 0))
    assert not np.array_equal(a, place_noise(-20, 5, 40, 30, 7, 1))
    assert a.shape == (CHANNELS, 30, 40) and abs(float(a.std()) - 1) < 0.05


def test_standing_still_is_the_identity(decoder: PocketDecoder) -> None:
    for k in (1, 7):
        s = sampler()
        s.extend(call(s, 0, 1))
        first = decoder.decode(s._groups[0])
        at = 1
        for _ in range(3):
            groups = call(s, at, k)
            s.extend(groups)
            at += k
            s.evict_before(at)
            assert all(not g.latent.where.any() for g in groups)
        state = groups[-1].state
        rests = resting(decoder._renderer.buffers(state.ground, state.land, state.poses, state.light, state.seed)[0][3])
        last = PocketDecoder(decoder._atlas, decoder._draw).decode(groups[-1])[3]
        assert 0.3 < rests.float().mean() < 1
        # water runs and clouds drift; nothing else moves
        assert np.array_equal(first[3][rests], last[rests]) and not np.array_equal(first[3], last)


def test_a_full_turn_closes(decoder: PocketDecoder) -> None:
    s = sampler()
    s.extend(call(s, 0, 1))
    start = s._groups[0]
    for n in range(5):
        groups = call(s, 1 + 7 * n, 7, ("turn_right",))
        s.extend(groups)
    last = groups[-1].state
    assert last.ground is start.state.ground
    assert last.poses[-1, 3] - start.state.poses[-1, 3] > 2 * np.pi
    turned = start.state.poses[3:].copy()
    turned[0, 3] += 2 * np.pi
    a = decoder._renderer.frames(start.state.ground, start.state.land, start.state.poses[3:], last.light, last.seed)[0]
    b = decoder._renderer.frames(last.ground, last.land, turned, last.light, last.seed)[0]
    assert np.abs(a.astype(int) - b).mean() < 0.5


def test_a_group_decodes_to_its_frames_at_any_time(decoder: PocketDecoder) -> None:
    s = sampler()
    groups = call(s, 0, 4, ("forward",))
    in_order = [decoder.decode(g) for g in groups]
    assert all(len(f) == POCKET2.span(0) == FRAMES_PER_GROUP and f[0].shape == (160, 256, 3) for f in in_order)
    assert not in_order[0][0].flags.writeable
    aside = decoder.fork()
    for g, frames in reversed(list(zip(groups, in_order, strict=True))):
        aside.rewind(g.position)
        assert all(np.array_equal(a, b) for a, b in zip(aside.decode(g), frames, strict=True))


def test_long_walks_take_bounded_memory() -> None:
    ground = Ground()
    ones = np.ones((16, 16), bool)
    for n in range(LIMIT + 50):
        ground = ground.written(16 * n, 0, np.zeros((CHANNELS, 16, 16), np.float32), ones, (16.0 * n * 8, 0.0))
    assert len(ground.tiles) == LIMIT and (LIMIT + 49, 0) in ground.tiles and (0, 0) not in ground.tiles
    s = sampler()
    at = 0
    for _ in range(6):
        s.extend(call(s, at, 7, ("forward",)))
        at += 7
        s.evict_before(at)
    assert len(s._groups) <= 2


def test_another_land_takes_its_place_within_seconds_where_one_stands(decoder: PocketDecoder) -> None:
    s = sampler()
    s.extend(call(s, 0, 2))
    groups = call(s, 2, 8, prompt="city at night")
    s.extend(groups)
    assert groups[0].state.old is not None and groups[0].state.share[0] == 0
    assert groups[-1].state.old is None and LANDS[groups[-1].state.land] == "city"
    assert np.allclose(groups[0].state.poses[0, :2], s._groups[1].state.poses[-1, :2])
    assert groups[-1].state.light[1, 11] == 1
    assert decoder.decode(groups[1])[0].shape == (160, 256, 3)
    # a light alone changes no ground
    s.extend(call(s, 10, 2, prompt="city at noon"))
    assert s._groups[11].state.ground is groups[-1].state.ground


def test_a_walker_is_stopped_and_never_in_the_ground() -> None:
    s = sampler()
    at = 0
    for _ in range(4):
        groups = call(s, at, 7, ("forward",))
        s.extend(groups)
        at += 7
    from engine.models.pocket2.model import Surroundings

    for g in groups:
        for p in g.state.poses:
            around = Surroundings(g.state.ground, float(p[0]), float(p[1]), g.state.land, 4)
            assert p[2] > float(around.height(p[:1], p[1:2])[0]) + 2


def test_sampling_stops_between_steps() -> None:
    s = sampler()
    prepared = s.prepare(Condition(0, "meadow"))
    seen: list[tuple[int, int]] = []

    def report(done: int, total: int) -> bool:
        seen.append((done, total))
        return len(seen) < 2

    with pytest.raises(Stopped):
        s.sample(Request(0, 3, 3, 1, 0, prepared, HistoryPolicy.LATENT_INPUT), report)
    assert len(seen) == 2
    with pytest.raises(KeyError):
        call(s, 5)


def test_every_call_reports_its_last_step() -> None:
    s = sampler()
    for branch, keys in ((0, ()), (2, ()), (4, ("forward",))):
        seen: list[tuple[int, int]] = []
        prepared = s.prepare(Condition(0, "meadow", keys))
        s.extend(
            s.sample(
                Request(branch, 2, 3, 1, 0, prepared, HistoryPolicy.LATENT_INPUT),
                lambda d, t, seen=seen: seen.append((d, t)) or True,
            )
        )
        assert seen and seen[-1][0] == seen[-1][1]


def test_rain_falls_where_a_prompt_says_so_and_stops_where_it_says_so(decoder: PocketDecoder) -> None:
    s = sampler()
    s.extend(call(s, 0, 2))
    dry = decoder.decode(s._groups[1])
    s.extend(call(s, 2, 4, prompt="meadow at noon, rain"))
    falling = [s._groups[n].state.falling[1, 0] for n in range(2, 6)]
    assert falling == sorted(falling) and 0 < falling[0] < falling[-1] <= 0.55
    wet = decoder.decode(s._groups[5])
    assert [np.abs(a.astype(int) - b).max() > 60 for a, b in pairwise(wet)] == [True] * 3
    assert np.array_equal(dry[0], decoder.decode(s._groups[1])[0])
    s.extend(call(s, 6, 7, prompt="meadow at noon, it stays dry weather"))
    assert s._groups[12].state.falling[1].max() < 0.05


def test_opposite_keys_cancel() -> None:
    assert not command(("forward", "back", "unknown")).any()


def test_a_picture_of_layers_is_that_of_their_planes() -> None:
    weights = Weights.load(shipped())
    renderer = Renderer(weights.textures.atlas(), LayerDrawer(weights.drawer))
    s = weights.sampler()
    for prompt in ("city at night", "autumn at dusk", "islands at noon"):
        state = call(s, 0, 1, prompt=prompt)[0].state
        buffers, mixes = renderer.buffers(state.ground, state.land, state.poses, state.light, state.seed)
        assert sum(len(layer.at) for layer in buffers[0]) == planes(buffers[0])[0].numel()
        with torch.inference_mode():
            whole = weights.drawer(planes(buffers[0])[None], torch.from_numpy(mixes[:1]))[0]
            parts = renderer.draw(buffers[0], mixes[0])
        apart = (whole - parts).abs()
        # the sky's pixels lie between two columns: what is drawn of these is mixed, not what they are drawn from
        ground = planes(buffers[0])[:3].amax(0)[4:-4, 4:-4] > 0
        assert apart[:, 4:-4, 4:-4][:, ground].quantile(0.999) < 1e-3
        assert apart.mean() < 2e-3


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("snowy mountains at noon", ("snow", "noon", None)),
        ("a city in fog, not at dusk", ("city", None, "foggy")),
        ("Wüste bei Nacht", ("desert", "night", None)),
        ("forêt d'automne au crépuscule", ("autumn", "dusk", None)),
        ("una playa al atardecer", ("islands", "dusk", None)),
        ("雪山的夜晚", ("snow", "night", None)),
        ("a spaceship interior", (None, None, None)),
        ("no lava, meadow", ("meadow", None, None)),
    ],
)
def test_words_are_read(text: str, said: tuple[str | None, str | None, str | None]) -> None:
    from engine.models.pocket2.cells import TIMES, WEATHERS

    r = read(text)
    names = [
        None if i is None else n[i] for n, i in zip((LANDS, TIMES, WEATHERS), (r.land, r.time, r.weather), strict=True)
    ]
    assert tuple(names) == said


@pytest.mark.parametrize(
    ("text", "land", "weather", "fall"),
    [
        ("a rainy street in Paris", "city", "hazy", "rain"),
        ("the town by night, it is snowing", "city", "hazy", "snowfall"),
        ("snow-covered mountains", "snow", None, None),
        ("Ein Schneesturm im Wald", "autumn", "hazy", "snowfall"),
        ("une plage sous l'orage, dans le brouillard", "islands", "foggy", "storm"),
        ("desierto sin lluvia", "desert", None, "dry"),
        ("下雪的城市", "city", "hazy", "snowfall"),
        ("meadow, clear sky", "meadow", "clear", "dry"),
        ("there is no storm over the dunes", "desert", None, "dry"),
    ],
)
def test_what_falls_is_read(text: str, land: str, weather: str | None, fall: str | None) -> None:
    from engine.models.pocket2.cells import WEATHERS
    from engine.models.pocket2.words import FALLS

    r = read(text)
    assert r.land is not None and LANDS[r.land] == land
    assert (None if r.weather is None else WEATHERS[r.weather]) == weather
    assert (None if r.fall is None else FALLS[r.fall]) == fall
