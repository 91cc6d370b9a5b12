"""A session made again from its log: every call is sampled anew and every delivered group is compared.

On the same machine with the same weights the groups are the same bit for bit; elsewhere it is said which is the first that is not,
and what differs between the machines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.control.conditions import Condition
from engine.models.interface import Group, HistoryPolicy, Model, Request
from engine.playback.player import Frame, Samples
from engine.runtime.decode_worker import decoded
from engine.runtime.latents import fingerprint
from engine.runtime.machine import differences, facts
from engine.runtime.replay import ReplayError
from engine.runtime.takes import Kept, Takes, resume_sampler, whole


@dataclass
class Regenerated:
    """What was made again, and how it compares."""

    groups: int = 0
    """Delivered ones that were made and compared."""
    different: int = 0
    """How many of them are not the same."""
    first: str = ""
    """The first that is not, in words."""
    machine: list[str] = field(default_factory=list)
    """What differs between the machines, in words."""


def regenerate(lines: list[dict[str, Any]], model: Model, show: Callable[[Frame, Samples | None], None]) -> Regenerated:
    """Makes a session again with a model that was just loaded; `show` gets each frame. Raises ReplayError."""
    return _Again(lines, model, show).run()


class _Again:
    def __init__(
        self, lines: list[dict[str, Any]], model: Model, show: Callable[[Frame, Samples | None], None]
    ) -> None:
        self.lines, self.model, self.show = lines, model, show
        self.calls = {x["id"]: x for x in lines if x["kind"] == "call" and not x["error"]}
        self.marked = {x["data"]["call"] for x in lines if x["kind"] == "event" and x["name"] == "CallProgressed"}
        """Calls whose beginning is in the log: before schema 3 they are taken to begin where they were launched."""
        self.conditions: dict[int, Condition] = {0: Condition(0, lines[0]["prompt"])}
        self.made: dict[int, list[Group]] = {}
        self.timeline: dict[int, Group] = {}
        self.takes = Takes()
        self.result = Regenerated(machine=differences(lines[0].get("machine", {}), facts()))
        if lines[0]["weights"] != model.identity:
            self.result.machine.insert(0, f"the weights were {lines[0]['weights']}, are {model.identity}")

    def run(self) -> Regenerated:
        for line in self.lines:
            kind = line["kind"]
            if kind == "condition":
                v = line["version"]
                keys, tapped = tuple(line["keys"]), tuple(line["tapped"])
                way = (line.get("before", ""), line.get("share", 1.0), line.get("negative"))
                self.conditions[v] = Condition(v, line["prompt"], keys, tapped, *way)
            elif kind == "controller":
                v, newest = line["version"], self.conditions[max(self.conditions)]
                prompt = line.get("prompt", self.lines[0]["prompt"])
                negative = line.get("negative", newest.negative)
                self.conditions.setdefault(v, Condition(v, prompt, negative=negative))
            elif self._begins_a_call(line):
                self._sample(line["data"]["call"])
            elif kind == "event" and line["name"] == "GroupsReady":
                self._adopt(line["data"]["call"], len(line["data"]["spans"]))
            elif kind == "delivered":
                self._deliver(line)
            elif kind == "reset":
                self._reset(line)
            elif kind == "rewind":
                self._rewind(line)
        return self.result

    def _begins_a_call(self, line: dict[str, Any]) -> bool:
        name, data = line.get("name"), line.get("data", {})
        if name == "CallProgressed":
            return bool(data["step"] == 0)
        return name == "Launch" and data["call"] not in self.marked

    def _sample(self, call: int) -> None:
        line = self.calls.get(call)
        if line is None:
            return  # it was stopped or failed in the session as well
        prepared = self.model.sampler.prepare(self.conditions[line["version"]])
        request = Request(
            line["branch"],
            line["K"],
            line["steps"],
            line["seed"],
            line["attempt"],
            prepared,
            HistoryPolicy(line["history"]),
        )
        try:
            self.made[call] = self.model.sampler.sample(request, lambda step, steps: True)
        except Exception as e:
            raise ReplayError(f"call {call} could not be made again: {e}") from e

    def _adopt(self, call: int, count: int) -> None:
        groups = self.made.pop(call, [])[:count]
        if groups:
            self.model.sampler.extend(groups)
            self.model.prefill_chunk(groups, HistoryPolicy(self.calls[call]["history"]))
            self.timeline = {p: g for p, g in self.timeline.items() if p < groups[0].position}
            self.timeline.update((g.position, g) for g in groups)

    def _deliver(self, line: dict[str, Any]) -> None:
        p = line["position"]
        group = self.timeline.get(p)
        if group is None:
            raise ReplayError(f"group {p} was delivered in the session and was not made again")
        self.result.groups += 1
        if fingerprint(group.latent) != line["latent"]:
            self.result.different += 1
            if not self.result.first:
                self.result.first = (
                    f"group {p} of take {line['take']}, {line['start'] / self.lines[0]['fps']:.2f} s into the session"
                )
        for frame, sound in decoded(self.model.decoder, group, line["start"]).each():
            self.show(frame, sound)
        self.takes.deliver(Kept(group, line["start"], line["span"], line["call"], line["version"], ""))
        self.model.sampler.evict_before(p)
        self.model.decoder.evict_before(p)

    def _reset(self, line: dict[str, Any]) -> None:
        newest = max(self.conditions)
        self.conditions[newest] = replace(self.conditions[newest], prompt=line["prompt"])
        if (start := line["start"]) is not None:
            self.model.set_start(None if start["path"] is None else Path(start["path"]))
        self.model.sampler.reset()
        self.model.decoder.resume([])
        self.timeline.clear()
        self.takes.clear()

    def _rewind(self, line: dict[str, Any]) -> None:
        try:
            path = whole(self.takes.branch(line["take"], line["position"])[-line["groups"] :])
        except LookupError as e:
            raise ReplayError(f"the session went back to a group that was not made again: {e}") from e
        resume_sampler(self.model.sampler, path)
        self.model.decoder.resume([k.group for k in path])
        self.timeline = {k.position: k.group for k in path[-2:]}
