"""Why there is no GPU to compute on: each cause is told apart, with the command that mends it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.models.gpu import Cause, Machine, _kernel_module, _on_bus, cuda_of_torch, judged

CARD = ("NVIDIA GeForce RTX 4090", (8, 9))
OLD_CARD = ("NVIDIA GeForce GTX 1080", (6, 1))


@pytest.mark.parametrize(
    ("machine", "cause", "advice"),
    [
        (Machine((CARD,), "580.65.06", True, "13.0"), Cause.WORKS, ""),
        (Machine(metal=True), Cause.METAL, ""),
        (Machine(cuda="13.0"), Cause.NONE, ""),
        (Machine(on_bus=True, cuda="13.0"), Cause.NO_DRIVER, "driver 580"),
        (Machine(driver="535.1.2", on_bus=True, cuda="13.0"), Cause.NO_DRIVER, "driver 580"),
        (Machine((CARD,), "580.65", True, None), Cause.CPU_BUILD, "whl/cu130"),
        (Machine((CARD,), "550.54", True, None), Cause.CPU_BUILD, "whl/cu126"),
        (Machine((CARD,), "550.54.14", True, "13.0"), Cause.OLD_DRIVER, "whl/cu126"),
        (Machine((CARD,), "470.82", True, "13.0"), Cause.OLD_DRIVER, "driver 580"),
        (Machine((CARD,), "550.54", True, "12.6"), Cause.WORKS, ""),
        (Machine((OLD_CARD,), "580.65", True, "13.0"), Cause.OLD_GPU, "whl/cu126"),
    ],
)
def test_causes_are_told_apart_and_have_one_command(machine: Machine, cause: Cause, advice: str) -> None:
    found = judged(machine)
    assert found.cause is cause and found.works == (cause in (Cause.WORKS, Cause.METAL))
    assert advice in found.advice and bool(found.advice) == bool(advice)
    assert found.works or "models run on the CPU" in found.text


def test_a_driver_that_is_loaded_and_a_card_on_the_bus_are_found(tmp_path: Path) -> None:
    said = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb 22 01:44:30 UTC 2024\nGCC version: 12\n"
    (tmp_path / "version").write_text(said)
    assert _kernel_module(tmp_path / "version") == "550.54.14"
    assert _kernel_module(tmp_path / "nothing") == ""
    for name, vendor, kind in (("0", "0x8086", "0x030000"), ("1", "0x10de", "0x040300")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "vendor").write_text(vendor + "\n")
        (tmp_path / name / "class").write_text(kind + "\n")
    assert not _on_bus(tmp_path), "a sound device of NVIDIA's is no GPU"
    (tmp_path / "1" / "class").write_text("0x030200\n")
    assert _on_bus(tmp_path)


def test_the_build_of_torch_is_read_off_its_files() -> None:
    import torch

    assert cuda_of_torch() == torch.version.cuda
