"""Scores: what is read and written, what is refused, and when a line is due."""

from __future__ import annotations

import pytest

from engine.runtime.score import Line, Performance, ScoreError, checked, parse, text_of

LINES = [Line(0.0, "snow"), Line(2.5, "desert", 1.5)]


def test_a_score_is_read_in_order_of_time_and_written_so_that_it_reads_the_same() -> None:
    assert parse('[{"t": 2.5, "prompt": "desert", "seconds": 1.5}, {"t": 0, "prompt": "snow"}]') == LINES
    assert parse(text_of(LINES)) == LINES


def test_an_entry_that_is_not_known_is_passed_over() -> None:
    assert parse('[{"t": 0, "prompt": "snow", "note": "begin softly"}]') == LINES[:1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[", "my.json: this is not JSON"),
        ("{}", "my.json: {} is not a list"),
        ('[{"t": 1}]', "my.json: entry 1: prompt is missing"),
        ('[{"t": 1, "prompt": " "}]', "entry 1: prompt: the text is empty"),
        ('[{"t": "1", "prompt": "a"}]', "entry 1: t: '1' is not a number"),
        (
            '[{"t": 0, "prompt": "a"}, {"t": 1, "prompt": "a", "seconds": 61}]',
            "entry 2: seconds: 61 is out of range: at most 60",
        ),
        ('[{"t": 1, "prompt": "a"}, {"t": 1, "prompt": "b"}]', "two prompts at 1 s: 'a' and 'b'"),
    ],
)
def test_bad_scores_are_refused_with_place_and_what_is_allowed(text: str, words: str) -> None:
    with pytest.raises(ScoreError, match=words):
        parse(text, "my.json")


@pytest.mark.parametrize("line", [Line(-1, "a"), Line(0, " "), Line(0, "a", 61)])
def test_lines_of_the_table_are_checked_as_those_of_a_file(line: Line) -> None:
    with pytest.raises(ScoreError, match="line 1"):
        checked([line])


def test_each_line_is_due_once_after_its_time_from_the_beginning() -> None:
    play = Performance(LINES, media=10.0)
    assert play.due(10.0) == LINES[:1]
    assert play.due(11.0) == []
    assert play.next_in(11.0) == pytest.approx(1.5)
    assert not play.over
    assert play.due(12.5) == LINES[1:]
    assert play.over and play.next_in(13.0) is None
