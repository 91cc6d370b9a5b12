"""A person's choice of a model and of sampling becomes what the engine takes, or one clear sentence."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import click
import pytest

from app.cli.model_options import MODEL, SAMPLING
from app.options import ChoiceError, ModelOptions, SamplingOptions, gpu_count
from engine.control.controller import Commit
from engine.models.interface import HistoryPolicy
from engine.models.registry import spec_of

POCKET = spec_of("pocket2")


@pytest.mark.parametrize(("options", "kind"), [(MODEL, ModelOptions), (SAMPLING, SamplingOptions)])
def test_the_command_line_has_each_option_with_the_same_default(options: tuple, kind: type) -> None:
    @click.command()
    def command(**values: object) -> None:
        """Nothing."""

    for option in options:
        command = option(command)
    values = command.make_context("command", []).params
    assert set(values) == {f.name for f in fields(kind)}
    for name, value in values.items():
        expected = getattr(kind(), name)
        assert value == (expected.value if isinstance(expected, Commit) else expected), name


def test_the_pocket_world_is_chosen_without_being_loaded() -> None:
    choice = ModelOptions(device="cpu", threads=1).choose()
    assert (choice.name, choice.spec) == ("pocket2", POCKET)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (ModelOptions("nothing"), "unknown model 'nothing'"),
        (ModelOptions(size=(10, 10)), "pocket2 is 256x160 and nothing else"),
        (ModelOptions("wan2.1-t2v-1.3b", size=(100, 100)), "the nearest is 96x96"),
        (ModelOptions("wan2.1-t2v-1.3b", decoder=Path("/nowhere")), "/nowhere is not there"),
    ],
)
def test_what_cannot_be_is_said(options: ModelOptions, words: str) -> None:
    with pytest.raises(ChoiceError, match=words):
        options.choose()


def test_another_model_keeps_the_place_to_compute_and_what_it_understands() -> None:
    first = ModelOptions(
        "wan2.1-t2v-1.3b", like="x", size=(64, 64), base=Path("b"), device="cpu", threads=3, vae_tiling=True
    )
    assert first.another("pocket") == ModelOptions("pocket", threads=3), "it computes on the CPU anyway"
    assert first.another("longlive-1.3b") == ModelOptions("longlive-1.3b", device="cpu", threads=3, vae_tiling=True)
    with pytest.raises(ChoiceError, match="unknown model 'nothing'"):
        first.another("nothing")


def test_what_a_model_does_not_understand_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "x.safetensors").touch()
    with pytest.raises(ChoiceError, match="does not understand --lora"):
        ModelOptions("pocket", lora=tmp_path / "x.safetensors").choose()


def test_settings_are_checked_against_the_model() -> None:
    chosen = SamplingOptions(seed=3, window=7, commit=Commit.CHUNK, history=HistoryPolicy.BOUNDARY_IMAGE, latents=True)
    settings = chosen.settings("snow", spec_of("pocket"))
    assert (settings.prompt, settings.seed, settings.window, settings.commit) == ("snow", 3, 7, Commit.CHUNK)
    for wrong, words in (
        (SamplingOptions(window=22), "K = 22 is out of range"),
        (SamplingOptions(history=HistoryPolicy.KV_REUSE), "kv-reuse"),
    ):
        with pytest.raises(ChoiceError, match=words):
            wrong.settings("snow", spec_of("pocket"))


def test_auto_is_one_process_on_a_cpu() -> None:
    assert gpu_count("auto", "cpu") == 1
    assert gpu_count(3, "cpu") == 3
