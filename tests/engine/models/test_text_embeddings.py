"""Prompt embeddings: diffusers' numbers, the cache, releasing the encoder."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer

from engine.control.conditions import Condition
from engine.models.interface import ConditionError, Model
from engine.models.text_embeddings import TOKENS, EmbeddingCache, PromptEncoder, clean, read_tokenizer
from engine.models.wan.load import read_text_encoder
from engine.models.weight_files import LayoutError

CPU = torch.device("cpu")


@pytest.fixture
def folder(checkpoints: Callable[[str], Path]) -> Path:
    return checkpoints("wan2.1-t2v-1.3b")


def encoder(folder: Path, cache: Path | None, release: bool = False) -> PromptEncoder:
    return PromptEncoder(
        lambda: read_text_encoder(folder, CPU, torch.float32), EmbeddingCache(cache, "m"), CPU, torch.float32, release
    )


def test_code_in_a_model_s_folder_is_neither_run_nor_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tok.py").write_text("open('ran', 'w').close()\nclass Tok: pass\n")
    settings = {"tokenizer_class": "Tok", "auto_map": {"AutoTokenizer": ["tok.Tok", None]}}
    (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    (tmp_path / "config.json").write_text("{}")
    monkeypatch.setattr("builtins.input", lambda *words: pytest.fail("somebody was asked"))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LayoutError, match="holds no tokenizer that can be read"):
        read_tokenizer(tmp_path)
    assert not (tmp_path / "ran").exists()


def test_an_embedding_is_that_of_diffusers_padded_with_zeros(folder: Path) -> None:
    text = "  Snow &amp; forest  at dawn "
    tokenizer, model = (
        AutoTokenizer.from_pretrained(str(folder / "tokenizer")),
        read_text_encoder(folder, CPU, torch.float32)[1],
    )
    batch = tokenizer(
        [clean(text)],
        padding="max_length",
        max_length=TOKENS,
        truncation=True,
        add_special_tokens=True,
        return_tensors="pt",
    )
    with torch.no_grad():
        hidden = model(batch.input_ids, batch.attention_mask).last_hidden_state[0]
    n = int(batch.attention_mask.sum())
    ours = encoder(folder, None).encode(text)
    assert ours.shape == (1, TOKENS, hidden.shape[-1])
    assert torch.allclose(ours[0, :n], hidden[:n], atol=1e-5)
    assert not ours[0, n:].any()


def test_a_known_text_needs_no_encoder(folder: Path, tmp_path: Path) -> None:
    first = encoder(folder, tmp_path)
    out = first.encode("a valley")
    assert first.encoded == 1 and first.encode("a valley") is out

    def never() -> tuple:
        raise AssertionError("the encoder was read")

    again = PromptEncoder(never, EmbeddingCache(tmp_path, "m"), CPU, torch.float32)
    assert torch.equal(again.encode("a valley"), out)
    other = PromptEncoder(never, EmbeddingCache(tmp_path, "another model"), CPU, torch.float32)
    with pytest.raises(AssertionError):
        other.encode("a valley")


def test_a_broken_cache_file_is_made_again(folder: Path, tmp_path: Path) -> None:
    out = encoder(folder, tmp_path).encode("a valley")
    file = next(tmp_path.glob("*.safetensors"))
    file.write_bytes(b"broken")
    assert torch.equal(encoder(folder, tmp_path).encode("a valley"), out)


def test_the_encoder_is_let_go_where_it_should(folder: Path) -> None:
    keeps, lets = encoder(folder, None), encoder(folder, None, release=True)
    keeps.encode("a")
    lets.encode("a")
    assert keeps._parts is not None and lets._parts is None
    lets.encode("another text")  # it is read again
    assert lets.encoded == 2


def test_a_prompt_that_is_too_long_is_refused_and_says_how_long(load: Callable[..., Model]) -> None:
    sampler = load("wan2.1-t2v-1.3b-self-forcing").sampler
    with pytest.raises(ConditionError, match="at most 512 are read"):
        sampler.prepare(Condition(1, "x y z " * 280))
    with pytest.raises(ConditionError, match="2000 characters"):
        sampler.prepare(Condition(1, "x" * 2001))
