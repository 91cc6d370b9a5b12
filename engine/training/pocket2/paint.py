"""Training pictures: what a G-buffer looks like in a light, by code. The drawing networks learn it; nothing here is
used for play.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from engine.models.pocket2.cells import LANDS
from engine.models.pocket2.fields import RANGE
from engine.models.pocket2.gbuffer import (
    BASE,
    DARK,
    DEPTH_,
    DISTANCE,
    FACE,
    FINE_TEXTURE,
    MID_TEXTURE,
    ON_BOX,
    ON_CARD,
    ON_LAND,
    OWN,
    ROOF,
    SHINE,
    SKY,
    SLAB,
    SORT,
    TRACK,
    WALL,
    WET,
    WIDE_TEXTURE,
)
from engine.training.pocket2.light import LAMPLIGHT, WATER, Light


def _c(x: np.ndarray | tuple[float, ...]) -> Tensor:
    return torch.as_tensor(np.asarray(x, np.float32))[:, None, None]


def paint(buffer: Tensor, mix: np.ndarray) -> Tensor:
    """(3, h, w) of one G-buffer (FEATURES, h, w) in the light of shares (15,)."""
    light = Light.of(mix)
    f = buffer
    d = f[DISTANCE]
    keep = _keep(d, light)
    sky = _sky(f[SKY], light)
    land = _hazed(_ground(f, light), keep, light)
    thing = torch.where(f[ON_BOX] > 0, _box(f, light)[0], f[BASE])
    shine = torch.where(f[ON_BOX] > 0, _box(f, light)[1], f[SHINE])
    shade = torch.where(f[ON_CARD] > 0, 0.9 + 0.2 * f[OWN], torch.ones(()))
    face = (0.72 + 0.42 * f[FACE]).clamp(0.2, 1.2)
    lit = _c(light.ambient) * 0.95 + _c(light.sun) * face + _c(LAMPLIGHT) * (0.30 * light.night / (1 + (d / 11) ** 2))
    glow = torch.where(f[ON_BOX] > 0, shine, shine * (0.25 + 0.75 * light.night))
    thing = thing * shade
    thing = thing * lit * (1 - 0.6 * glow) + thing * glow * 1.05
    k = keep + (1 - keep) * glow.clamp_max(1) * 0.25 * (d < light.view * 1.6)
    thing = _hazed(thing, k, light)
    on_land, on_thing = f[ON_LAND], f[ON_CARD] + f[ON_BOX]
    return torch.where(on_land > 0, land, torch.where(on_thing > 0, thing, sky)).clamp(0, 1)


def _keep(d: Tensor, light: Light) -> Tensor:
    near = torch.exp(-((d / light.view) ** 2) * 1.25)
    edge = ((RANGE - d) / (0.16 * RANGE)).clamp(0, 1)
    far = float(np.clip((light.view - 130) / 120, 0, 1)) * 0.35
    return near * (far + (1 - far) * edge)


def _hazed(colour: Tensor, keep: Tensor, light: Light) -> Tensor:
    return colour * keep + _c(light.haze) * (1 - keep)


def _ground(f: Tensor, light: Light) -> Tensor:
    land = {n: float(s) for n, s in zip(LANDS, light.land, strict=True)}
    colour, path, level = f[BASE], f[TRACK], f[DEPTH_]
    fine, mid, wide = f[FINE_TEXTURE], f[MID_TEXTURE], f[WIDE_TEXTURE]
    grass = land["meadow"] + land["islands"] * 0.7 + land["autumn"] * 0.8 + land["city"] * 0.5
    ripple, crack = land["desert"] + 0.25 * land["snow"], land["volcanic"] + 0.35 * land["crystal"]
    soft = 1 - 0.6 * land["snow"]
    grey = (colour.amax(0) - colour.amin(0)) < 0.14
    town = land["city"]
    bare = torch.where(grey, torch.ones(()) * town, torch.zeros(())) + (path * 3).clamp(0, 1)
    bare = bare.clamp(0, 1)
    detail = 0.055 * soft * (fine[0] + mid[0] + wide) * (1 - 0.5 * town * bare)
    detail = detail + grass * (1 - bare) * (0.075 * fine[1] + 0.05 * mid[1])
    detail = detail + ripple * (0.045 * fine[2] + 0.05 * mid[2]) - 0.14 * crack * (fine[3] + mid[3]).clamp_min(0)
    edge = (1 - (path / 0.12).abs()).clamp(0, 1) * (1 - town)
    detail = detail - 0.08 * edge
    albedo = colour * (1 + detail * 1.6)
    if town > 0.01:
        near = torch.exp(-f[DISTANCE] / 40)
        albedo = albedo * (1 - 0.22 * town * f[SLAB] * (path < 0) * grey)
        kerb = (path.abs() < 0.06) & grey
        albedo = albedo * (1 + 0.35 * town * kerb * near)
        road = (path > 0.06) & grey
        albedo = torch.where(road, albedo * (1 - 0.36 * town), albedo)
        line = road & ((path - 0.985).abs() < 0.03)
        albedo = albedo + 0.32 * town * line * near
    dark = f[DARK]
    bump = 1 + 1.3 * detail
    lit = _c(light.ambient) * (1 - 0.4 * dark) + _c(light.sun) * f[FACE] * bump * (1 - 0.75 * dark)
    lantern = 0.34 * light.night / (1 + (f[DISTANCE] / 11) ** 2)
    lit = lit + _c(LAMPLIGHT) * (f[SHINE] * 0.55 * light.night + lantern)
    out = albedo * lit
    wave = mid[2] * 0.5 + fine[0] * 0.3
    liquid = sum(_c(WATER[k]) * v for k, v in land.items())
    shallow = (1 + level / 1.4).clamp(0, 1)
    day = _c(light.ambient + 0.55 * light.sun)
    body = liquid * (1 + 0.10 * wave) * (1 - 0.5 * shallow) + colour * 0.5 * shallow
    lava = land["volcanic"]
    crust = (mid[3] * 0.7 + fine[3] * 0.3 + 0.55 * wide + 0.35 * mid[0]).clamp(-1, 1.5)
    hot = _c((1.0, 0.38, 0.06)) * (0.72 + 0.42 * crust) + _c((0.1, 0.22, 0.05)) * (crust - 0.6).clamp(0, 1)
    # far water takes the colour of the sky
    grazing = 1 - torch.exp(-f[DISTANCE] / 120)
    sheen = _c(0.6 * light.low + 0.4 * light.zenith) * 0.55 * grazing
    sea = (body * day * (1 - 0.5 * grazing) + sheen) * (1 - lava) + hot * lava
    foam = ((0.5 + level).clamp(0, 1) * 2).clamp(0, 1) * (level > -0.5) * (1 - lava) * 0.35
    out = torch.where(f[WET] > 0, sea + foam * day, out)
    ember = lava * (1 - level / 3).clamp(0, 1) * (level >= 0)
    return out + _c((0.30, 0.09, 0.02)) * ember


def _sky(f: Tensor, light: Light) -> Tensor:
    high, cloud, star, wide, near, disc, back, hills, skyline = f
    k = high**0.7
    sky = _c(light.low) * (1 - k) + _c(light.zenith) * k
    clear = 1 - light.grey
    sky = sky + (_c(light.disc) - sky) * (0.35 * wide + 0.35 * near) * clear * (1 - 0.55 * light.night)
    sky = sky + star * light.night**2 * clear
    sky = sky * (1 - disc * clear) + _c(light.disc) * (disc * clear) * (1 - 0.08 * light.night)
    cover = ((cloud - 0.35) * 0.9).clamp(0, 1) * light.cloud * (high * 6.8).clamp(0.15, 1)
    bright = (cloud * 0.18).clamp(-0.2, 0.3)
    colour = (_c(0.35 * light.low + 0.55 * (light.sun + light.ambient)) + bright * _c(0.3 + light.sun)).clamp(0, 1)
    sky = sky * (1 - cover) + colour * cover
    veil = light.grey * (1.15 - 0.5 * high).clamp(0, 1)
    sky = sky * (1 - veil) + _c(light.haze * 0.9 + 0.1 * light.zenith) * veil
    hill = light.far * (light.ambient + 0.4 * light.sun)
    for shape, thin in ((back, 0.20), (hills, 0.34)):
        strong = shape * (1 - light.grey) ** 0.5
        sky = sky * (1 - strong) + _c(light.haze * (1 - thin) + hill * thin) * strong
    strong = skyline * (1 - light.grey)
    return sky * (1 - strong) + _c(light.haze * 0.7 + hill * 0.3) * strong


def _box(f: Tensor, light: Light) -> tuple[Tensor, Tensor]:
    """Colour and glow of walls and roofs."""
    r, g, _ = f[BASE]
    house, hut, cabin, ruin, tower = f[SORT] > 0
    fu, fv, up, along, seen = f[WALL]
    roof = f[ROOF] > 0
    one = torch.ones_like(r)
    plaster = torch.stack((0.86 - 0.2 * r, 0.8 - 0.22 * r, 0.7 - 0.22 * r + 0.1 * g))
    wood = torch.stack((0.5 + 0.1 * r, 0.36 + 0.08 * r, 0.25 + 0.06 * r))
    sand = torch.stack((0.78 * one, 0.66 + 0.05 * r, 0.48 + 0.05 * r))
    k = 0.42 + 0.42 * r
    block = torch.stack((k * (0.95 + 0.2 * (g - 0.5)), k, k * (1.12 - 0.32 * g)))
    wall = torch.where(
        house, plaster, torch.where(hut, wood, torch.where(cabin, wood * 1.2, torch.where(ruin, sand, block)))
    )
    tiles = torch.where(
        house,
        torch.stack((0.62 + 0.1 * g, 0.28 + 0.06 * g, 0.2 * one)),
        torch.where(hut, 0.93 * one, torch.where(cabin, torch.stack((0.62 * one, 0.5 * one, 0.3 * one)), wall * 0.7)),
    )
    home = house | hut | cabin
    window = (
        torch.where(
            tower,
            (fu > 0.2) & (fu < 0.8) & (fv > 0.28) & (fv < 0.8),
            ((fu - 0.5).abs() < 0.16) & (fv > 0.1) & (fv < 0.9) & home,
        )
        & ~roof
    )
    w = window * seen + (1 - seen) * torch.where(tower & ~roof, 0.30 * one, 0.06 * one)
    shine = torch.where(window, f[SHINE], 0.4 * (seen < 0.5))
    pane = _c((0.34, 0.42, 0.52)) * (1 - light.night * shine) + _c((1.0, 0.86, 0.58)) * light.night * shine
    wall = wall * torch.where(tower & ~roof & (fv < 0.12), 1 - 0.14 * seen, one)
    wall = (
        wall
        * torch.where((hut | cabin) & ((up * 2.2) % 1 < 0.15), 0.86, 1.0)
        * torch.where(ruin & ((up * 1.1) % 1 < 0.14), 0.82, 1.0)
    )
    wall = torch.where(home & ~roof & (along < 0.6) & (up < 2.4), _c((0.3, 0.2, 0.14)), wall)
    colour = torch.where(roof, tiles * torch.where(home & ((up * 2.6) % 1 < 0.2), 0.85, 1.0), wall * (1 - w) + pane * w)
    low = (0.78 + up * 0.12).clamp(0.78, 1)
    return colour * low, w * shine * light.night * ~roof
