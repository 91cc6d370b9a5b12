"""The scaling model against the paper's figures, and its bytes against those that are sent."""

from __future__ import annotations

import pytest

from engine.measure.scaling import PAPER, fitted, measure, table


def test_the_model_predicts_the_figures_that_it_was_not_fitted_to() -> None:
    model = fitted()
    assert 1000 * model.seconds("720p", 21, 1) == pytest.approx(6432.8, rel=0.04)
    assert 1000 * model.seconds("480p", 7, 8) == pytest.approx(78.6, rel=0.2)
    ratio = model.seconds("720p", 3, 1) / model.seconds("720p", 1, 1)
    assert ratio == pytest.approx(2.74, rel=0.05)
    assert 1e14 < model.rate < 9e14  # an H200 in bf16


def test_the_curve_bends_where_compute_falls_to_the_fixed_cost() -> None:
    model = fitted()
    assert model.bend("480p", 1) < 2 < model.bend("480p", 7) < 10 < model.bend("720p", 21)
    rows = {(r["size"], r["K"]): r for r in table()}
    assert rows["480p", 1]["8_ms"] > rows["480p", 1]["1_ms"] / 3  # eight GPUs do not help one latent
    assert rows["720p", 21]["8_ms"] < rows["720p", 21]["1_ms"] / 6.5
    assert rows["720p", 21]["paper_1_ms"] == pytest.approx(1000 * PAPER["720p", 21, 1])


@pytest.mark.slow  # layers of the true width; test_usp.py counts the same bytes on small ones
def test_what_is_sent_is_what_the_model_says() -> None:
    """On two processes, with one layer of the true width."""
    for split in ("2x1", "1x2"):
        (row,) = measure(2, split, "cpu", ["480p"], [1], 1, layers=1, history=1)
        assert row["sent_mb"] == pytest.approx(row["sent_theory_mb"], rel=0.01)
        assert row["ms"] > 0
