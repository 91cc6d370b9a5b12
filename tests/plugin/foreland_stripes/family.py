import numpy as np

from engine.models.family import Family
from engine.models.interface import Decoder, Group, Model, Sampler, Stopped

MOVES = {"turn_right": (1, 0), "turn_left": (-1, 0), "forward": (0, 1), "back": (0, -1)}


class Stripes(Sampler):
    def __init__(self, spec):
        self.spec, self.kept = spec, {}

    def prepare(self, condition):
        return (*condition.keys, *condition.tapped), condition.keys  # of a call's first group, and of the others

    def sample(self, request, report):
        self.spec.check_window(request.window)
        at = self.kept[request.branch - 1].state if request.branch else np.zeros(2)
        for step in range(1, request.steps + 1):  # a model denoises here
            if not report(step, request.steps) and step < request.steps:
                raise Stopped
        groups = []
        for p in range(request.branch, request.branch + request.window):
            moves = [MOVES[k] for k in request.prepared[p > request.branch] if k in MOVES]
            noise = np.random.default_rng([request.seed, p, request.attempt]).normal(0, 0.1, 2)
            before, at = at, at + noise + np.sum(moves, 0)
            groups.append(Group(p, np.stack((before, at)), at))
        return groups

    def extend(self, groups):
        first = groups[0].position
        self.kept = {p: g for p, g in self.kept.items() if p < first} | {g.position: g for g in groups}

    def evict_before(self, position):
        self.kept = {p: g for p, g in self.kept.items() if p >= position - 1}

    def reset(self):
        self.kept = {}


class StripesDecoder(Decoder):
    def __init__(self, spec):
        self.spec = spec

    def decode(self, group):
        y, x = np.mgrid[: self.spec.height, : self.spec.width]
        frames, span = [], self.spec.span_of(group)
        for share in np.arange(1, span + 1) / span:
            right, ahead = group.latent[0] + share * (group.latent[1] - group.latent[0])
            wave = np.stack((np.sin((x + 24 * right) / 9), np.sin((y + 24 * ahead) / 7), np.cos((x + y) / 20)), -1)
            frames.append((127 * (wave + 1)).astype(np.uint8))
            frames[-1].flags.writeable = False
        return frames

    def rewind(self, position):
        return  # nothing is kept from one group to the next

    def reset(self):
        return


class StripesFamily(Family):
    options = frozenset()  # of LoadOptions, such as {"device", "dtype"}

    def load(self, entry, spec, options, progress):
        progress("reading the weights", 0.5)
        return Model(Stripes(spec), StripesDecoder(spec), "stripes-1")


FAMILY = StripesFamily()
