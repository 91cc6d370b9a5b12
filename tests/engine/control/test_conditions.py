"""Keys and prompts to numbered conditions."""

from engine.control.conditions import ConditionBook


def test_repeats_and_stray_releases_are_no_change() -> None:
    book = ConditionBook("a")
    assert book.press("forward") is not None
    assert book.press("forward") is None
    assert book.release("left") is None
    assert book.set_prompt("a") is None


def test_every_change_is_one_complete_condition_with_the_next_number() -> None:
    book = ConditionBook("a")
    book.press("turn_left")
    c = book.press("forward")
    assert c is not None
    assert (c.version, c.prompt, c.keys) == (2, "a", ("forward", "turn_left"))
    c = book.set_prompt("b")
    assert c is not None
    assert (c.version, c.prompt, c.keys) == (3, "b", ("forward", "turn_left"))


def test_a_tap_that_no_call_saw_acts_for_one_group() -> None:
    book = ConditionBook("a")
    book.press("rise")
    c = book.release("rise")
    assert c is not None
    assert (c.keys, c.tapped) == ((), ("rise",))
    book.launched(c.version)
    assert book.set_prompt("b").tapped == ()  # type: ignore[union-attr]
    book.made(c.version)
    assert book.set_prompt("c").tapped == ()  # type: ignore[union-attr]


def test_a_press_that_a_call_saw_is_no_tap() -> None:
    book = ConditionBook("a")
    c = book.press("rise")
    assert c is not None
    book.launched(c.version)
    assert book.release("rise").tapped == ()  # type: ignore[union-attr]
    book.made(c.version)
    assert book.set_prompt("b").tapped == ()  # type: ignore[union-attr]


def test_a_press_whose_call_failed_after_the_release_is_a_tap_of_a_new_condition() -> None:
    book = ConditionBook("a")
    book.launched(book.press("rise").version)  # type: ignore[union-attr]
    book.release("rise")
    c = book.failed()
    assert c is not None and (c.version, c.keys, c.tapped) == (3, (), ("rise",))
    book.launched(c.version)
    assert book.failed() is None, "the condition in force has it"
    book.launched(c.version)
    book.made(c.version)
    assert book.failed() is None
    book.set_prompt("b")
    assert book.failed() is None, "the tap has had its group"


def test_a_failed_call_of_a_key_that_is_still_held_needs_no_new_condition() -> None:
    book = ConditionBook("a")
    book.launched(book.press("rise").version)  # type: ignore[union-attr]
    assert book.failed() is None


def test_release_all_lets_go_and_keeps_no_taps() -> None:
    book = ConditionBook("a")
    book.press("rise")
    book.press("forward")
    c = book.release_all()
    assert c is not None
    assert (c.keys, c.tapped) == ((), ())
    assert book.release_all() is None


def test_a_rejected_prompt_does_not_live_on_in_later_conditions() -> None:
    book = ConditionBook("a")
    good = book.current
    book.set_prompt("bad")
    book.revert(good, changed=False)
    c = book.press("forward")
    assert c is not None and (c.version, c.prompt) == (2, "a")
    book.set_prompt("worse")
    c = book.revert(good, changed=True)
    assert (c.version, c.prompt, c.keys) == (4, "a", ("forward",))
