"""Sets up a virtual environment and runs or tests Foreland from a checkout. Needs nothing but Python 3.11 or newer.

python packaging/dev.py run [options of `foreland run`]
python packaging/dev.py test [arguments for pytest]
python packaging/dev.py foreland ARGUMENTS...   any other command, as the installed program would run it
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / "packaging"
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
FORELAND = [str(PYTHON), "-P", "-m", "foreland"]
"""-P: what lies in the person's folder, such as an `engine/` of their own, is not imported."""
OLDEST_PYTHON = (3, 11)
OLDEST_GLIBC = (2, 34)
OLDEST_MACOS = 14
WINDOW_LIBRARIES = (
    "libegl1",
    "libgl1",
    "libxkbcommon-x11-0",
    "libxcb-cursor0",
    "libxcb-icccm4",
    "libxcb-image0",
    "libxcb-keysyms1",
    "libxcb-randr0",
    "libxcb-render-util0",
    "libxcb-shape0",
    "libxcb-xinerama0",
    "libxcb-xkb1",
    "libdbus-1-3",
    "libfontconfig1",
    "fonts-dejavu-core",
    "libportaudio2",
)
TEST_LIBRARIES = ("xvfb", "xauth", "xdotool")
BROWSER = ("chromium-headless-shell",)
"""For the page of `foreland serve`: 96 MB to load, 306 MB on the disk, half a minute. Debian has it and Ubuntu does not."""
APT_TIMEOUT = 900
WINDOW = "tests/window"
REAL_TIME = ["-m", "(window or integration) and not slow", "-o", "cache_dir=.pytest_cache/real-time"]
"""Tests that wait for the clock more than they compute; of these files alone are read that have some (`with_real_time`)."""
COMPUTING = ["-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"]
COMPUTING += ["-m", "not slow and not window and not integration", f"--ignore={WINDOW}"]
COMPUTING += ["-o", "cache_dir=.pytest_cache/computing"]
"""All others, in two processes, each with files of its own, the longest first (tests/conftest.py). They give way to those in real time,
beside which they run."""
ALONE = ["--last-failed", "--last-failed-no-failures", "none"]
"""What failed beside others. It runs once more with the machine to itself, and both results are printed."""
TESTS_FAILED = 1
"""Pytest's exit status when tests ran and some failed; every other one but 0 means that they could not run."""


def say(text: str) -> None:
    print(f"foreland: {text}", file=sys.stderr, flush=True)


def agreed(question: str) -> bool:
    """Asks on the terminal; Enter is yes, the end of the input is no."""
    print(f"foreland: {question} [Y/n] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().lower() in ("\n", "y\n", "yes\n")


def stop(text: str) -> None:
    say(text)
    sys.exit(1)


def system_libraries(names: tuple[str, ...]) -> None:
    """Installs what is missing on Debian as root, after asking where somebody can answer; elsewhere says what is missing."""
    if not sys.platform.startswith("linux"):
        return
    if shutil.which("dpkg-query") is None:
        if not (VENV / "told-libraries").exists():
            say("this is not Debian: if the window does not open, install what your system calls " + " ".join(names))
        return
    query = subprocess.run(["dpkg-query", "-W", "-f=${Package} ${Status}\n", *names], capture_output=True, text=True)
    there = {
        line.split()[0].split(":")[0] for line in query.stdout.splitlines() if line.endswith("install ok installed")
    }
    missing = [n for n in names if n not in there]
    if not missing:
        return
    if os.geteuid() != 0:
        say(f"system libraries are missing; install them with: sudo apt-get install {' '.join(missing)}")
        return
    say(f"these system libraries are missing: {' '.join(missing)}")
    if sys.stdin.isatty() and "CI" not in os.environ and not agreed("install them with apt-get?"):
        say(f"nothing was installed; the window may not open. By hand: apt-get install {' '.join(missing)}")
        return
    say("installing them with apt-get")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing],
    ):
        done = subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, timeout=APT_TIMEOUT)
        if done.returncode:
            say(f"`{' '.join(command)}` failed; the window may not open. Install by hand: {' '.join(missing)}")
            return


def debian() -> bool:
    """Whether this is Debian itself, and not a system made from it."""
    try:
        return platform.freedesktop_os_release().get("ID") == "debian"
    except OSError:
        return False


def limits(system: str, machine: str, bits: int, libc: tuple[str, str], mac: str, python: tuple[int, int]) -> str:
    """Why the locked packages cannot be installed on a machine, or ''. Said before hundreds of megabytes are loaded in vain.

    libc: name and version as `platform.libc_ver` has them. mac: version of macOS. What is wanted is that of the wheels in the lock files:
    PySide6 6.11 (manylinux_2_34), torch 2.13 (macOS 14 on Apple's processors).
    """
    if python < OLDEST_PYTHON:
        return f"Python {OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} or newer is needed; this is {python[0]}.{python[1]}"
    if bits < 64:
        return "a Python of 64 bits is needed; this one has 32"
    if system == "linux":
        if machine not in ("x86_64", "aarch64"):
            return f"the packages are made for x86_64 and aarch64; this is {machine}"
        name, said = libc
        if name and name != "glibc":
            return f"the packages are made for systems with glibc; this one has {name}"
        numbers = tuple(int(n) for n in said.split(".")[:2] if n.isdigit())
        if numbers and numbers < OLDEST_GLIBC:
            return (
                f"glibc {OLDEST_GLIBC[0]}.{OLDEST_GLIBC[1]} or newer is needed (Ubuntu 22.04, Debian 12, RHEL 9); this system has {said}: "
                "take a container of a newer one"
            )
    if system == "darwin":
        if machine != "arm64":
            return "a Mac with an Apple processor is needed: torch is no longer made for Intel Macs"
        if mac and int(mac.partition(".")[0]) < OLDEST_MACOS:
            return f"macOS {OLDEST_MACOS} or newer is needed; this is {mac}"
    return ""


def environment(test: bool) -> None:
    """Makes .venv as the lock files say; does nothing when it is so already."""
    files = [HERE / "requirements.txt", HERE / "requirements-nodeps.txt", ROOT / "pyproject.toml"]
    files += [HERE / "requirements-test.txt"] if test else []
    digest = hashlib.sha256(b"".join(f.read_bytes() for f in files) + str(ROOT).encode()).hexdigest()
    stamp = VENV / ("stamp-test" if test else "stamp-run")
    if PYTHON.exists() and stamp.exists() and stamp.read_text() == digest:
        return
    began = time.monotonic()
    if not PYTHON.exists():
        say("making the virtual environment .venv")
        done = subprocess.run([sys.executable, "-m", "venv", str(VENV)])
        if done.returncode:
            stop("the virtual environment could not be made; on Debian: sudo apt-get install python3-venv")
    pip = [str(PYTHON), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    steps = [
        ("installing the locked packages (torch is large: this takes some minutes)", ["-r", str(files[0])]),
        ("installing word embeddings and global keys", ["--no-deps", "-r", str(files[1])]),
    ]
    if test:
        steps.append(("installing the test tools", ["-r", str(files[3])]))
    steps.append(("installing foreland itself", ["--no-deps", "--no-build-isolation", "-e", str(ROOT)]))
    for i, (what, arguments) in enumerate(steps):
        say(f"[{i + 1}/{len(steps)}] {what}")
        quiet = [] if sys.stderr.isatty() else ["-q"]
        if subprocess.run([*pip, *quiet, *arguments]).returncode:
            stop("pip failed (its message is above); what was installed is kept: run this command again to go on")
    stamp.write_text(digest)
    say(f"ready after {time.monotonic() - began:.0f} s")


def run(arguments: list[str]) -> int:
    system_libraries(WINDOW_LIBRARIES)
    environment(test=False)
    return replace([*FORELAND, "run", *arguments])


def foreland(arguments: list[str]) -> int:
    environment(test=False)
    return replace([*FORELAND, *arguments])


def replace(command: list[str]) -> int:
    """Runs the command in the place of this process, in the person's folder."""
    if os.name == "nt":
        return subprocess.run(command).returncode
    os.execv(command[0], command)


def test(arguments: list[str]) -> int:
    system_libraries(WINDOW_LIBRARIES + TEST_LIBRARIES)
    if debian():
        system_libraries(BROWSER)
    environment(test=True)
    pytest = [str(PYTHON), "-m", "pytest"]
    checks = [
        ("lint", [str(PYTHON), "-m", "ruff", "check", "."]),
        ("format", [str(PYTHON), "-m", "ruff", "format", "--check", "."]),
        ("import rules", [str(PYTHON.with_name("lint-imports")), "--no-logo"]),
    ]
    for name, command in checks:
        say(name)
        if status := start(command).wait():
            return status
    types = ("types", [str(PYTHON), "-m", "mypy"])
    if arguments:
        return in_turn([types, ("tests", [*pytest, *arguments])])
    real_time, computing = [*pytest, *REAL_TIME, *with_real_time()], [*pytest, *COMPUTING]
    with ThreadPoolExecutor(1) as pool, tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        quiet = pool.submit(lambda: (in_turn([types], output), in_turn([("tests that compute", computing)], output)))
        live = in_turn([("tests in real time; beside them types, and tests that compute", real_time)])
        typed, computed = quiet.result()
        output.seek(0)
        print(output.read(), flush=True)
    return typed or alone(live, real_time) or alone(computed, computing)


def with_real_time() -> list[str]:
    """The files that have tests in real time: to read all others would import much for nothing."""
    marked = (f for f in sorted((ROOT / "tests").rglob("test_*.py")) if "mark.integration" in f.read_text("utf-8"))
    return [WINDOW, *(str(f.relative_to(ROOT)) for f in marked if ROOT / WINDOW not in f.parents)]


def alone(status: int, command: list[str]) -> int:
    """Runs the tests again that failed beside others, with the machine to themselves; the exit status then. status: of the first run."""
    if status != TESTS_FAILED:
        return status
    return in_turn([("these failed beside other tests; once more, alone", [*command, *ALONE, "-n", "0", "-v"])])


def start(command: list[str], output: IO[str] | None = None) -> subprocess.Popen[bytes]:
    """Starts a step of the tests. output: where it writes instead of the terminal; such a step gives way to others."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # some hundred processes would each compile the program again
    give_way = (lambda: os.nice(10) and None) if output is not None and os.name == "posix" else None
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output, preexec_fn=give_way)


def in_turn(steps: list[tuple[str, list[str]]], output: IO[str] | None = None) -> int:
    """Runs steps one after the other until one fails; its exit status, or 0."""
    for name, command in steps:
        if output is None:
            say(name)
        else:
            print(f"foreland: {name}", file=output, flush=True)
        if status := start(command, output).wait():
            return status
    return 0


def main() -> int:
    commands = {"run": run, "test": test, "foreland": foreland}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    bits = 64 if sys.maxsize > 2**32 else 32
    here = (sys.platform, platform.machine(), bits, platform.libc_ver(), platform.mac_ver()[0], sys.version_info[:2])
    if problem := limits(*here):
        stop(f"{problem}; nothing was downloaded")
    return commands[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    sys.exit(main())
