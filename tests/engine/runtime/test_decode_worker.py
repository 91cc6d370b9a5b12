"""The decode worker: in order, just in time, and never a frame of what was cancelled."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engine.models.interface import Group
from engine.playback.player import Frame
from engine.playback.shared_player import SharedPlayer
from engine.runtime.clock import VirtualClock
from engine.runtime.decode_worker import AHEAD, DecodeWorker
from tests.toy import ToyDecoder


class Bench:
    """A worker over a decoder that takes its time, with everything that it was told and tells."""

    def __init__(self, broken: tuple[int, ...] = (), independent: bool = False) -> None:
        clock = self.clock = VirtualClock()
        self.decoded: list[int] = []
        self.rewound: list[int] = []
        self.first: list[tuple[int, str]] = []
        self.failed: list[str] = []
        self.told: list[tuple[int, float]] = []
        bench = self

        class Slow(ToyDecoder):
            independent_groups = independent

            def decode(self, group: Group) -> list[Frame]:
                clock.sleep(0.1)
                bench.decoded.append(group.position)
                return super().decode(group)

            def rewind(self, position: int) -> None:
                bench.rewound.append(position)

        self.player = SharedPlayer(16.0)
        self.worker = DecodeWorker(
            Slow(broken=broken),
            self.player,
            clock,
            lambda call, error: self.first.append((call, str(error or ""))),
            lambda group, error: self.failed.append(f"{group.position}: {error}"),
            lambda position, seconds: self.told.append((position, round(seconds, 6))),
        )

    def submit(self, first: int, n: int, call: int | None = 0) -> None:
        groups = [(Group(p, (p, 0, 0), None), 4 * p) for p in range(first, first + n)]
        self.worker.submit(groups, call)

    def there(self) -> list[int]:
        return [p for p in range(40) if self.player.has(p)]


@pytest.fixture
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    b = Bench(getattr(request, "param", ()))
    yield b
    b.worker.close()


def test_a_calls_first_group_is_held_back_until_it_may_play(bench: Bench) -> None:
    bench.submit(0, 3)
    bench.clock.sleep(1.0)
    assert bench.first == [(0, "")]
    assert bench.there() == [1, 2], "group 0 is decoded and not in the player"
    bench.worker.present(0)
    assert bench.there() == [0, 1, 2]


def test_no_more_is_decoded_than_will_play_soon_or_is_asked_for(bench: Bench) -> None:
    bench.submit(0, 20)
    bench.clock.sleep(5.0)
    assert bench.decoded == list(range(AHEAD + 1))
    bench.worker.decode_until(8)
    bench.clock.sleep(5.0)
    assert bench.decoded == list(range(9))


def test_what_is_cancelled_while_it_is_decoded_never_reaches_the_player(bench: Bench) -> None:
    bench.submit(0, 4)
    bench.worker.present(0)
    bench.clock.sleep(0.25)  # group 2 is in the decoder
    bench.worker.cancel_from(2)
    bench.clock.sleep(1.0)
    assert bench.decoded == [0, 1, 2]
    assert bench.there() == [1]


def test_a_first_group_that_is_cancelled_is_not_presented(bench: Bench) -> None:
    bench.submit(0, 2)
    bench.clock.sleep(0.15)
    assert bench.first == [(0, "")]
    bench.worker.cancel_from(0)
    bench.worker.present(0)
    assert bench.there() == []


def test_a_branch_rewinds_the_decoder_to_it(bench: Bench) -> None:
    bench.submit(0, 4)
    bench.clock.sleep(1.0)
    bench.worker.cancel_from(2)
    bench.submit(2, 3, call=1)
    bench.clock.sleep(1.0)
    assert bench.rewound == [2]
    assert bench.decoded == [0, 1, 2, 3, 2, 3]
    assert bench.first == [(0, ""), (1, "")]


@pytest.mark.parametrize("bench", [(0, 2)], indirect=True)
def test_errors_go_to_the_call_or_to_whoever_runs_the_session(bench: Bench) -> None:
    bench.submit(0, 3)
    bench.clock.sleep(1.0)
    assert bench.first == [(0, "cannot decode")]
    assert bench.failed == ["2: cannot decode"]


def test_groups_that_come_back_need_no_presentation(bench: Bench) -> None:
    bench.submit(3, 2, call=None)
    bench.clock.sleep(1.0)
    assert bench.there() == [3]  # 4 is more than AHEAD of the player
    assert bench.first == []


def test_where_groups_are_independent_a_calls_first_one_comes_before_what_is_not_due() -> None:
    for independent, order in ((False, [0, 1, 2, 3, 4]), (True, [0, 1, 4, 2, 3])):
        bench = Bench(independent=independent)
        bench.submit(0, 4)
        bench.clock.sleep(0.15)
        bench.submit(4, 3, call=1)
        bench.clock.sleep(1.0)
        bench.worker.close()
        assert bench.decoded[:5] == order


def test_locked_groups_before_a_calls_first_one_are_decoded_at_once(bench: Bench) -> None:
    """The controller waits for it, and a clock that stands would never bring them up."""
    bench.submit(0, 20)
    bench.clock.sleep(2.0)
    bench.worker.cancel_from(10)
    bench.submit(10, 5, call=1)
    bench.clock.sleep(2.0)
    assert bench.decoded == list(range(11))
    assert bench.first == [(0, ""), (1, "")]


def test_a_decode_of_what_was_replaced_meanwhile_is_not_shown(bench: Bench) -> None:
    bench.submit(0, 4)
    bench.worker.present(0)
    bench.clock.sleep(0.25)  # group 2 is in the decoder
    bench.worker.cancel_from(2)
    bench.submit(2, 2, call=None)
    bench.clock.sleep(0.1)
    assert not bench.player.has(2), "the old one is done, and the new one is not"
    bench.clock.sleep(0.1)
    assert bench.player.has(2)


def test_what_was_asked_for_is_not_wanted_of_what_comes_in_its_place(bench: Bench) -> None:
    bench.submit(0, 4)
    bench.worker.decode_until(8)
    bench.worker.cancel_from(2)
    bench.submit(2, 10, call=None)
    bench.clock.sleep(3.0)
    assert max(bench.decoded) == AHEAD


def test_going_on_elsewhere_needs_no_work_and_leaves_none(bench: Bench) -> None:
    bench.submit(0, 4)
    bench.clock.sleep(0.15)
    bench.worker.resume([Group(5, (5, 0, 0), None)])
    bench.clock.sleep(2.0)
    assert bench.rewound == [6], "a sampler may wait for what this decodes"
    assert bench.decoded == [0, 1], "what was in the decoder"


@pytest.mark.parametrize("bench", [(2,)], indirect=True)
def test_a_group_is_tried_twice(bench: Bench) -> None:
    decoder = bench.worker._decoder
    assert isinstance(decoder, ToyDecoder)
    bench.submit(0, 3)
    bench.clock.sleep(0.35)  # the second try of group 2 is under way
    decoder.broken.clear()
    bench.clock.sleep(1.0)
    assert bench.failed == []
    assert bench.player.has(2)
    assert bench.told[-1] == (2, 0.2)
