"""The command line: one clear line and status 2 for bad input; films, logs and raw frames for good."""

from __future__ import annotations

import json
from pathlib import Path

import av
import numpy as np
import pytest

from app.cli.main import main
from engine.models.pocket2.cells import CHANNELS
from tests.logs import log_lines

SCRIPT = {
    "prompt": "snowy mountains at noon",
    "seconds": 2,
    "events": [
        {"t": 0.3, "key": "Right", "action": "down"},
        {"t": 0.9, "key": "Right", "action": "up"},
        {"t": 0.9, "prompt": "desert at dusk"},
    ],
}


def write(tmp_path: Path, data: object) -> Path:
    file = tmp_path / "script.json"
    file.write_text(data if isinstance(data, str) else json.dumps(data))
    return file


def run(tmp_path: Path, name: str, *more: str) -> Path:
    folder = tmp_path / name
    script = write(tmp_path, SCRIPT)
    out = ("--out", str(folder / "w.mp4"), "--session", str(folder), "--raw", str(folder / "f.npy"))
    assert main(["explore", "--threads", "1", "--script", str(script), *out, *more]) == 0
    return folder


def test_equal_runs_in_virtual_time_give_equal_frames_bit_for_bit(tmp_path: Path) -> None:
    few = ("--assume-call", "0.4", "--window", "3", "--steps", "2", "--seconds", "1.25")
    a = np.load(run(tmp_path, "a", *few) / "f.npy")
    b = np.load(run(tmp_path, "b", *few) / "f.npy")
    c = np.load(run(tmp_path, "c", *few[:-1], "0.25", "--seed", "1") / "f.npy")
    assert a.shape == (20, 160, 256, 3)
    assert a.dtype == np.uint8
    assert np.array_equal(a, b)
    assert not np.array_equal(a[: len(c)], c)


def test_a_live_run_writes_film_log_and_summary_that_agree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = run(tmp_path, "live")
    assert capsys.readouterr().out.splitlines()[-1] == str((folder / "w.mp4").resolve())
    with av.open(str(folder / "w.mp4")) as film:
        assert film.streams.video[0].average_rate == 16
        assert sum(1 for _ in film.decode(video=0)) == 32
    summary = json.loads((folder / "summary.json").read_text())
    lines = log_lines(folder)
    assert lines[0]["kind"] == "session"
    assert {k: v for k, v in lines[-1].items() if k in summary} == {k: v for k, v in summary.items() if k != "updates"}
    assert summary["frames_shown"] == 32
    g = summary["groups"]
    assert g["predicted"] == g["delivered"] + g["revoked"] + g["cached"]
    ticks = [x for x in lines if x.get("name") == "GroupStarted"]
    assert len(ticks) == g["delivered"]
    kinds = [u["kind"] for u in summary["updates"]]
    assert kinds.count("key") == 2
    assert kinds.count("prompt") == 1
    for u in summary["updates"]:
        if u["outcome"] == "applied":
            assert u["L"] == pytest.approx(u["R"] + u["C"] + u["Q"], abs=1e-5)
    for name in ("fps", "stall_seconds", "L50", "L95", "K", "window_seconds", "C_median", "model", "seed", "commit"):
        assert name in summary


@pytest.mark.slow  # the simulation shows the same for all profiles
def test_chunk_commitment_answers_later_and_revokes_nothing(tmp_path: Path) -> None:
    spec, chunk = (
        json.loads((run(tmp_path, commit, "--assume-call", "0.3", "--commit", commit) / "summary.json").read_text())
        for commit in ("speculative", "chunk")
    )
    assert chunk["groups"]["revoked"] == 0 < spec["groups"]["revoked"]
    assert chunk["L50"] > spec["L50"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explore", "--sede", "1"], "No such option '--sede'"),
        (["explore", "--window", "0"], "'--window': 0 is out of range: at least 1"),
        (["explore", "--window", "22"], "K = 22 is out of range"),
        (["explore", "--steps", "0"], "'--steps': 0 is out of range: at least 1"),
        (["explore", "--seed", "-1"], "'--seed': -1 is out of range: at least 0"),
        (["explore", "--seconds", "-3"], "'--seconds': -3 is out of range: more than 0, at most 86400"),
        (["explore", "--model", "nothing"], "unknown model 'nothing'"),
        (["explore", "--script", "/nowhere.json"], "nowhere.json cannot be read"),
        (["explore", "--out", "/proc/none/world.mp4"], "cannot write /proc/none/world.mp4"),
        (["explore", "--session", "/proc/none"], "/proc/none"),
        (["explore", "--assume-call", "0"], "'--assume-call': 0 is out of range"),
        (["explore", "--weights", "/nowhere", "--seconds", "1"], "is missing"),
        (["explore", "--commit", "never"], "'never' is not one of 'speculative', 'chunk'"),
        (["run", "--prompt", " "], "the prompt is empty"),
        (["dance"], "No such command 'dance'"),
        (["--sede", "1"], "see `foreland run --help`"),
        (["explore", "--seconds", "nan"], "nan is out of range"),
        (["explore", "--size", "big"], "big is not a size: give one like 832x480"),
        (["explore", "--gpus", "none"], "none is not a number of GPUs"),
        (["soak", "--minutes", "0"], "out of range: 0.2 to 1440"),
        (["models"], "Missing command"),
        (["models", "verify", "nothing"], "unknown model 'nothing'"),
        (["models", "check", "nothing"], "unknown model 'nothing'"),
        (["models", "check", "pocket", "--dtype", "int8"], "'int8' is not one of"),
        (["models", "path", "pocket"], "ships with Foreland"),
        (["schema", "film"], "'film' is not one of 'script'"),
        (["replay"], "Missing argument 'SESSION'"),
        (["replay", "/nowhere", "--film", "w.mp4"], "/nowhere/events.jsonl cannot be read"),
        (["evaluate", "--weights", "/nowhere"], "is missing"),
        (["bench", "window", "--model", "nothing"], "unknown model 'nothing'"),
        (["bench", "sampler", "--weights", "/nowhere", "--threads", "1"], "is missing"),
        (["bench", "decode", "--weights", "/nowhere", "--threads", "1"], "is missing"),
        (["bench", "serve", "--weights", "/nowhere", "--threads", "1"], "is missing"),
        (["bench", "scaling", "--sizes", "4k"], "'4k' is not one of '480p', '720p'"),
        (["models", "pull", "nothing"], "unknown model 'nothing'"),
        (["models", "pull", "pocket"], "ships with Foreland"),
        (["models", "tiny", "nothing", "m"], "nothing"),
        (["bench", "shapes", "--layers", "0"], "out of range: at least 1"),
        (["bench", "controller", "--model", "pocket"], "No such option '--model'"),
    ],
)
def test_bad_input_gets_one_clear_line_and_status_2(
    tmp_path: Path,
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    try:
        status = main(arguments)
    except SystemExit as e:
        status = int(e.code or 0)
    error = [x for x in capsys.readouterr().err.splitlines() if x.startswith("foreland: ")]
    assert status == 2
    assert len(error) == 1
    assert words in error[0]


@pytest.mark.parametrize("script", ["{", {"prompt": ""}, {"prompt": "a", "events": [{"t": -1, "prompt": "b"}]}])
def test_bad_scripts_get_one_clear_line_and_status_2(
    tmp_path: Path, script: object, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explore", "--script", str(write(tmp_path, script)), "--out", str(tmp_path / "w.mp4")]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_prompt_that_is_too_long_is_refused_and_the_film_goes_on(tmp_path: Path) -> None:
    script = {"prompt": "desert", "seconds": 1.25, "events": [{"t": 0.5, "prompt": "sand " * 200}]}
    file = write(tmp_path, script)
    arguments = ["explore", "--script", str(file), "--out", str(tmp_path / "w.mp4"), "--session", str(tmp_path / "s")]
    assert main([*arguments, "--threads", "1", "--assume-call", "0.3", "--window", "3", "--steps", "2"]) == 0
    summary = json.loads((tmp_path / "s" / "summary.json").read_text())
    assert [u["outcome"] for u in summary["updates"]] == ["applied", "rejected"]
    assert summary["frames_shown"] == 20


def test_doctor_says_what_works_what_is_missing_and_what_is_optional(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = {line[5:].split(":")[0]: line for line in lines if not line.startswith("      ")}
    assert {"gpu", "sound"} < set(found)
    assert all(found[x].startswith("ok  ") for x in ("python", "torch", "encoder", "prompts", "pocket world"))
    assert found["display"] == "no   display: neither DISPLAY nor WAYLAND_DISPLAY is set"
    assert found["global keys"].startswith("info"), "nothing has to be done"
    assert lines[lines.index(found["display"]) + 1] == "      `foreland explore` needs none"
    assert found["data folder"] == f"ok   data folder: {data}"
    assert found["log"] == f"ok   log: {data / 'logs' / 'foreland.log'}"


def test_doctor_is_1_when_something_is_missing_that_the_program_needs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.models.registry.pocket_folder", lambda: tmp_path)
    assert main(["doctor"]) == 1
    assert "restore the folders assets/pocket and assets/pocket2" in capsys.readouterr().out


def test_latents_are_kept_in_the_sessions_folder_when_asked_for(tmp_path: Path) -> None:
    from safetensors.torch import load_file

    words = [
        "explore",
        "--seconds",
        "1",
        "--assume-call",
        "0.5",
        "--window",
        "4",
        "--steps",
        "1",
        "--out",
        str(tmp_path / "w.mp4"),
        "--session",
        str(tmp_path / "s"),
    ]
    assert main([*words, "--threads", "1", "--latents"]) == 0
    latents = load_file(str(tmp_path / "s" / "latents.safetensors"))
    assert sorted({k.split(":")[1] for k in latents}, key=int) == [str(i) for i in range(4)]
    assert latents["group:0:values"].shape[0] == CHANNELS


def test_memory_is_planned_for_several_worlds(capsys: pytest.CaptureFixture[str]) -> None:
    name = "wan2.1-t2v-1.3b-self-forcing"
    assert main(["models", "fit", name, "--memory", "80"]) == 0
    assert "there is memory for 2 such worlds" in capsys.readouterr().out
    assert main(["models", "fit", name, "--memory", "80", "--worlds", "3"]) == 0
    assert "3 worlds take 64.5 GB of 80.0 GB" in capsys.readouterr().out
    assert main(["models", "fit", name, "--memory", "40", "--worlds", "8"]) == 1
    assert "does not fit in 5.0 GB" in capsys.readouterr().out


def test_a_model_that_fits_and_cannot_keep_up_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "fit", "wan2.2-ti2v-5b", "--memory", "80"]) == 0
    said = capsys.readouterr().out
    assert "it would stall" in said and "times slower than it plays" in said
    assert main(["models", "fit", "causal-forcing-pp-2step", "--memory", "80"]) == 0
    assert "it would stall" not in capsys.readouterr().out
