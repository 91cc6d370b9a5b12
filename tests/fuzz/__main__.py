"""Runs the cases, each in a forked child with limits of time and memory; status 1 when one is met with more than one line."""

from __future__ import annotations

import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

import click

from tests.fuzz.cases import Case, cases

CPU_SECONDS, SECONDS, BYTES = 20, 120, 3_000_000_000
"""Of a case: what it may compute, how long it may take on a machine that is shared, and what it may add to its memory."""
ENDS = {signal.SIGALRM: f"no end within {SECONDS} s", signal.SIGPROF: f"no end within {CPU_SECONDS} s of computing"}
MOST_CHARACTERS = 3000
"""Of what a person is told."""
HEAVY = ("torch", "av", "PIL.Image", "safetensors.torch", "diffusers", "engine.models.checkpoints")


def verdict(case: Case, home: Path) -> str:
    """In the child: what is wrong with the answer, '' for nothing."""
    from engine.errors import Refused

    said = home / "said"
    with said.open("wb") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
    status: object = 0
    try:
        status = case.run(home)
    except (Refused, click.ClickException) as e:
        print(e)
    except RuntimeError as e:
        if type(e).__name__ != "LayoutError":
            return traceback.format_exc()
        print(e)
    except BaseException:
        return traceback.format_exc()
    sys.stdout.flush()
    text = said.read_text("utf-8", "replace")
    if "Traceback" in text:
        return f"a traceback was printed: {text[-1500:]}"
    if "an error in the program" in text:
        log = home / "logs" / "foreland.log"
        return text[-300:] + (log.read_text()[-1500:] if log.exists() else "")
    if (
        type(status) is int
        and status in (1, 2)
        and (len(text.splitlines()) > case.lines or len(text) > MOST_CHARACTERS)
    ):
        return f"{len(text.splitlines())} lines, {len(text)} characters: {text[:500]}"
    return ""


def child(case: Case, home: Path, write: int) -> None:
    os.chdir(home)
    os.environ["FORELAND_HOME"] = str(home)
    resource.setrlimit(resource.RLIMIT_AS, (resource.getrlimit(resource.RLIMIT_AS)[1],) * 2)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (size + BYTES, size + BYTES))
    signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
    signal.alarm(SECONDS)
    os.write(write, verdict(case, home).encode("utf-8", "replace")[-4000:])
    os._exit(0)


def tried(case: Case) -> str:
    """What is wrong with the answer to a case, '' for nothing."""
    with tempfile.TemporaryDirectory(prefix="foreland-fuzz-") as folder:
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                child(case, Path(folder), write)
            except BaseException:
                os.write(write, traceback.format_exc().encode("utf-8", "replace")[-4000:])
            finally:
                os._exit(99)
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            answer = pipe.read().decode()
        _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        return ENDS.get(number, f"ended by {signal.Signals(number).name}")
    return answer if os.WEXITSTATUS(status) == 0 else f"status {os.WEXITSTATUS(status)}: {answer}"


@click.command()
@click.option("--cases", "n", default=2000)
@click.option("--seed", default=0)
@click.option("--first", default=0, help="Leaves out the cases before this one.")
@click.option("--light", is_flag=True, help="Without pictures, films and weights: needs no torch.")
def fuzz(n: int, seed: int, first: int, light: bool) -> None:
    """Prints each case that is met wrongly, and how to see it again."""
    os.environ.update(QT_QPA_PLATFORM="offscreen", OMP_NUM_THREADS="1", HF_HUB_OFFLINE="1")
    for name in () if light else HEAVY:
        __import__(name)
    began, wrong = time.monotonic(), 0
    for i, case in enumerate(cases(seed, n, light)):
        if i >= first and (answer := tried(case)):
            wrong += 1
            click.echo(f"-- case {i} of seed {seed}: {case.name}\n{answer}")
    click.echo(f"{n - first} cases of seed {seed}, {wrong} met wrongly, {time.monotonic() - began:.0f} s")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    fuzz()
