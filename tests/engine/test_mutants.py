"""The mutants are of today's code: each one's place is there, once. Running them is `python -m tests.engine.mutants`."""

from __future__ import annotations

import pytest

from tests.engine.mutants import MUTANTS, ROOT, TESTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda m: m.name)
def test_a_mutants_place_is_there_once(mutant: Mutant) -> None:
    text = (ROOT / mutant.file).read_text("utf-8")
    assert text.count(mutant.old) == 1
    compile(text.replace(mutant.old, mutant.new), mutant.file, "exec")  # what is no Python is noticed by every test
    assert all((ROOT / test).exists() for test in TESTS[mutant.file])


def test_each_has_a_name_of_its_own() -> None:
    assert len({m.name for m in MUTANTS}) == len(MUTANTS) >= 54
