"""A download that was stopped goes on where it was, is of one commit, and leaves nothing behind. Against a stand-in for the hub."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.models import hub
from engine.models.catalogue import Entry, load_catalogue
from engine.models.download import ORPHAN_AGE, repository
from tests.engine.models.test_hub import COMMIT, Hub

NAME = "model.pt"
BYTES = 24 << 20
"""More than one piece of what the library reads at a time."""


@pytest.fixture(scope="module")
def content() -> bytes:
    return os.urandom(1 << 20) * (BYTES >> 20)


@pytest.fixture
def served(tmp_path: Path, content: bytes, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    from huggingface_hub import constants

    folder = tmp_path / "served"
    folder.mkdir()
    (folder / NAME).write_bytes(content)
    (folder / "small.json").write_text("{}")
    server = Hub({"someone/model": folder})
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    yield server
    server.server.shutdown()


@pytest.fixture
def entry() -> Entry:
    return replace(
        load_catalogue()["wan2.1-t2v-1.3b"], name="some", repo="someone/model", needs=(), revision="", files=(NAME,)
    )


def go_on(name: str, done: int, total: int) -> bool:
    return True


def test_a_stopped_pull_keeps_what_was_loaded_and_asks_for_the_rest(served: Hub, entry: Entry, content: bytes) -> None:
    plan = hub.plan(entry)
    with pytest.raises(hub.Cancelled, match="are kept"):
        hub.pull(plan, lambda name, done, total: done < BYTES // 2)
    (part,) = (repository(entry.repo) / "blobs").iterdir()
    kept = part.stat().st_size
    assert 0 < kept < BYTES and part.read_bytes() == content[:kept]
    again = hub.plan(entry)
    assert again.there == kept, "the plan counts it"
    reports: list[int] = []
    folder = hub.pull(again, lambda name, done, total: reports.append(done) is None)
    assert served.ranges == [NAME], "only what was missing was asked for"
    assert reports[1] == kept, "the bar begins where it was"
    assert (folder / NAME).read_bytes() == content and folder.name == COMMIT
    assert [f.name for f in (repository(entry.repo) / "blobs").iterdir()] == [hashlib.sha256(content).hexdigest()]


def test_a_line_that_breaks_is_gone_on_from_after_a_restart(served: Hub, entry: Entry, content: bytes) -> None:
    """The part that a killed process leaves."""
    blobs = repository(entry.repo) / "blobs"
    blobs.mkdir(parents=True)
    (blobs / (hashlib.sha256(content).hexdigest() + ".part")).write_bytes(content[: BYTES // 3])
    served.cut.add(NAME)
    folder = hub.pull(hub.plan(entry), go_on)
    assert served.ranges and (folder / NAME).read_bytes() == content


def test_what_killed_downloads_left_is_swept(served: Hub, entry: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = repository(entry.repo) / "blobs"
    blobs.mkdir(parents=True)
    for name, age in (("old.1234abcd.incomplete", ORPHAN_AGE + 60), ("new.1234abcd.incomplete", 0.0)):
        (blobs / name).write_bytes(b"x")
        then = (blobs / name).stat().st_mtime - age
        os.utime(blobs / name, (then, then))
    (blobs / "of-an-older-commit.part").write_bytes(b"x")
    hub.pull(hub.plan(entry), go_on)
    left = {f.suffix for f in blobs.iterdir()}
    assert {f.name for f in blobs.glob("*.incomplete")} == {"new.1234abcd.incomplete"} and ".part" not in left


def test_a_damaged_file_is_loaded_anew_by_the_next_pull(served: Hub, entry: Entry, content: bytes) -> None:
    plan = hub.plan(entry)
    blobs = repository(entry.repo) / "blobs"
    blobs.mkdir(parents=True)
    wrong = bytes(reversed(content[: BYTES // 2]))
    (blobs / (hashlib.sha256(content).hexdigest() + ".part")).write_bytes(wrong)
    with pytest.raises(hub.HubError, match=r"another checksum.*loaded anew"):
        hub.pull(plan, go_on)
    assert (hub.pull(plan, go_on) / NAME).read_bytes() == content


def test_all_files_are_of_the_commit_of_the_plan_or_of_the_row(served: Hub, entry: Entry) -> None:
    plan = hub.plan(entry)
    assert {f.commit for f in plan.files} == {COMMIT}
    pinned = replace(entry, revision=COMMIT, files=("small.json",))
    folder = hub.pull(hub.plan(pinned), go_on)
    assert folder.name == COMMIT
    assert not (repository(entry.repo) / "refs" / "main").exists(), "a pinned commit is not what `main` means"


def test_only_what_is_needed_is_wanted() -> None:
    """MiniMax-H3's repository also has the authors' own copies and another transformer of 66 GB each."""
    h3 = load_catalogue()["minimax-h3"]
    there = [
        *("modular_model_index.json", "transformer/diffusion_pytorch_model-00001-of-00014.safetensors"),
        *("transformer_ref/diffusion_pytorch_model-00001-of-00014.safetensors", "FL2VA/transformer/model.safetensors"),
        *("Ref2VA/transformer/model.safetensors", "vae/config.json", "audio_vae/config.json", "README.md"),
        *("text_encoder/model-00001-of-00014.safetensors", "tokenizer/tokenizer.json", "processor/config.json"),
    ]
    wanted = {name.partition("/")[0] for name in there if hub.wanted(h3, name, False)}
    assert wanted == {"modular_model_index.json", "transformer", "vae", "audio_vae", "text_encoder", "tokenizer"}
