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


def test_a_tap_of_a_call_that_failed_is_not_taken_for_shown_by_a_call_that_lacks_it() -> None:
    """The call with the tap is given up, and in the same instant another one is launched whose condition was made without it."""
    book = ConditionBook("a")
    book.press("forward")
    book.release("forward")
    book.launched(2)
    without = book.set_prompt("b")
    assert without is not None and (without.version, without.tapped) == (3, ())
    again = book.failed()
    assert again is not None and again.tapped == ("forward",)
    book.launched(3)
    book.made(3)
    after = book.set_prompt("c")
    assert after is not None and after.tapped == ("forward",), "nothing has shown it yet"
    book.launched(after.version)
    book.made(after.version)
    later = book.set_prompt("d")
    assert later is not None and later.tapped == ()


def test_a_second_press_during_a_call_that_has_the_first_one_is_a_tap_of_its_own() -> None:
    book = ConditionBook("a")
    book.press("forward")
    book.launched(1)
    book.release("forward")
    book.press("forward")
    again = book.release("forward")
    assert again is not None and again.tapped == ("forward",)
