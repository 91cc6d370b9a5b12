"""Getting checkpoints: what a pull would take, pulling, verifying, finding. Downloads go through huggingface_hub.

Its cache variables and its offline mode count (HF_HOME, HF_HUB_CACHE, HF_HUB_OFFLINE, HF_ENDPOINT, HF_TOKEN); a download that was
broken off or stopped goes on where it was (`engine.models.download`).
"""

from __future__ import annotations

import fnmatch
import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.models.catalogue import Entry, load_catalogue
from engine.models.download import (
    RemoteFile,
    cached,
    discard,
    download,
    free_bytes,
    point_main_at,
    sweep,
    sweep_parts,
    unfinished,
)

LONGEST_TEXT = 300
"""Characters of what the hub says that are shown."""
IGNORED = ("*.md", "*.png", "*.jpg", "*.mp4", "*.gif", ".gitattributes", "assets/*", "examples/*")


class HubError(RuntimeError):
    """The hub could not be used. The message says why, what is kept, and what to do."""


class Cancelled(HubError):
    """The person stopped a pull; what was downloaded is kept and the next pull goes on from it."""


@dataclass(frozen=True)
class Plan:
    """What a pull would do. sizes in bytes; there: what is in the cache already."""

    entry: Entry
    files: tuple[RemoteFile, ...]
    there: int
    free: int
    folder: Path
    licence: str

    @property
    def total(self) -> int:
        """Bytes of all files."""
        return sum(f.size for f in self.files)

    @property
    def fits(self) -> bool:
        """Whether there is room for what is not in the cache."""
        return self.total - self.there <= self.free


def parts(entry: Entry) -> list[Entry]:
    """An entry and the base that it needs."""
    return [entry] if entry.base is None else [entry, load_catalogue()[entry.base]]


def wanted(entry: Entry, name: str, as_base: bool) -> bool:
    """Whether a file of the repository is needed. as_base: the transformer of a base is not."""
    if any(fnmatch.fnmatch(name, p) for p in IGNORED):
        return False
    if entry.files:
        return name in entry.files
    if entry.needs and not any(fnmatch.fnmatch(name, p) for p in entry.needs):
        return False
    return not (as_base and name.startswith("transformer"))


def cache_folder() -> Path:
    """Where the hub's library keeps downloads."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def endpoint() -> str | None:
    """The hub's address where HF_ENDPOINT says another one."""
    return os.environ.get("HF_ENDPOINT") or None


def offline() -> bool:
    """Whether HF_HUB_OFFLINE is on."""
    return os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")


def plan(entry: Entry) -> Plan:
    """Asks the hub what a pull takes. Raises HubError, offline too."""
    from huggingface_hub import HfApi

    if offline():
        raise HubError("offline mode is on (HF_HUB_OFFLINE): nothing can be pulled; what is in the cache works")
    files: list[RemoteFile] = []
    licences = []
    for part in parts(entry):
        try:
            info = HfApi(endpoint=endpoint()).model_info(part.repo, revision=part.revision or None, files_metadata=True)
        except Exception as e:  # the library raises many kinds, network ones among them
            raise HubError(_explain(part.repo, e)) from e
        for s in info.siblings or []:
            if wanted(part, s.rfilename, part is not entry):
                sha = s.lfs.sha256 if s.lfs is not None else None
                files.append(RemoteFile(part.repo, s.rfilename, max(0, s.size or 0), sha, info.sha or "main"))
        said = getattr(info.card_data, "license", None) if info.card_data else None
        licences.append(f"{part.repo}: {_one_line(said or part.licence)}")
    missing = [f for p in parts(entry) for f in p.files if not any(x.repo == p.repo and x.name == f for x in files)]
    if missing or not files:
        raise HubError(
            f"{entry.repo} has no {', '.join(missing) or 'files'} any more: the catalogue is older than the hub"
        )
    try:
        there = sum(f.size for f in files if cached(f) is not None)
        there += sum(unfinished(part.repo) for part in parts(entry))
    except ValueError as e:
        raise HubError(f"{entry.repo} has files whose names cannot be written: {_one_line(e)}") from e
    except OSError as e:
        raise HubError(_damaged(e)) from e
    folder = cache_folder()
    return Plan(entry, tuple(files), there, free_bytes(folder), folder, "; ".join(licences))


def pull(plan: Plan, report: Callable[[str, int, int], bool]) -> Path:
    """Downloads what is missing and returns `locate(entry)`.

    report: (file, bytes done, bytes in all) of the whole pull; answers whether to go on. Raises Cancelled or HubError; what was
    downloaded is kept, and the next pull goes on from there.
    """
    if not plan.fits:
        raise HubError(
            f"{plan.entry.name} needs {gb(plan.total - plan.there)} more, {gb(plan.free)} are free in {plan.folder}: "
            "free some, or set HF_HUB_CACHE to a larger disk"
        )
    try:
        return _pull(plan, report)
    except OSError as e:
        raise HubError(_damaged(e)) from e


def _pull(plan: Plan, report: Callable[[str, int, int], bool]) -> Path:
    repositories = {f.repo: f.commit for f in plan.files}
    for repo in repositories:
        sweep(repo)
    done = 0
    for f in plan.files:
        base = done

        def tell(loaded: int, name: str = f.name, base: int = base) -> None:
            if not report(name, base + loaded, plan.total):
                raise Cancelled(
                    f"stopped: {gb(base + loaded)} of {gb(plan.total)} are kept, the next pull goes on from there"
                )

        tell(0)
        try:
            download(f, tell, endpoint())
        except HubError:
            raise
        except Exception as e:
            raise HubError(_explain(f.repo, e)) from e
        done += f.size
    report("", done, plan.total)
    damaged = {f: problem for f in plan.files if (problem := wrong(f))}
    for f in damaged:
        discard(f)
    if damaged:
        raise HubError(
            f"the pull is done but {next(iter(damaged.values()))}: pull again, what is damaged is loaded anew"
        )
    for part in parts(plan.entry):
        sweep_parts(part.repo)
        if not part.revision:
            point_main_at(part.repo, repositories[part.repo])
    return locate(plan.entry)


def verify(plan: Plan) -> list[str]:
    """What is wrong with the files in the cache: missing, of another size, or of another checksum. In words."""
    return [problem for f in plan.files if (problem := wrong(f))]


def _one_line(said: object) -> str:
    """What somebody else wrote, as a line that can be printed."""
    text = " ".join(str(said).split())[:LONGEST_TEXT]
    return "".join(c if c.isprintable() else "?" for c in text)


def _damaged(e: OSError) -> str:
    where = f" of {_one_line(e.filename)}" if e.filename else ""
    return f"the cache of downloads cannot be used: {e.strerror or e}{where}; remove that folder, or set HF_HUB_CACHE to another"


def wrong(file: RemoteFile) -> str:
    """What is wrong with a file in the cache; '' for nothing."""
    path = cached(file)
    if path is None:
        return f"{_one_line(file.name)} is missing"
    try:
        return _wrong(file, path)
    except OSError as e:
        return f"{_one_line(file.name)} cannot be read ({e.strerror or e})"


def _wrong(file: RemoteFile, path: Path) -> str:
    if not path.is_file():
        return f"{file.name} is no ordinary file"
    if file.size and path.stat().st_size != file.size:
        return f"{file.name} has {path.stat().st_size} bytes instead of {file.size}"
    if file.sha256 and digest(path) != file.sha256:
        return f"{file.name} has another checksum than the hub says"
    return ""


def digest(path: Path) -> str:
    h = hashlib.sha256()
    with path.open("rb") as f:
        while block := f.read(1 << 22):
            h.update(block)
    return h.hexdigest()


def locate(entry: Entry) -> Path:
    """The snapshot folder of an entry in the cache. Raises HubError when it is not there."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(entry.repo, revision=entry.revision or None, local_files_only=True))
    except Exception as e:
        raise HubError(
            f"{entry.name} is not on this machine: `foreland models pull {entry.name}` (about {entry.about_gb:g} GB)"
        ) from e


def here(entry: Entry) -> bool:
    """Whether everything that an entry needs seems to be in the cache (`verify` is exact)."""
    if entry.ships:
        return True
    try:
        for part in parts(entry):
            folder = locate(part)
            if not all((folder / f).exists() for f in part.files):
                return False
    except HubError:
        return False
    return True


def gb(size: float) -> str:
    """A number of bytes as a person reads it."""
    return f"{size / 1e9:.1f} GB" if size >= 1e8 else f"{size / 1e6:.1f} MB"


def _explain(repo: str, e: Exception) -> str:
    text = _one_line(str(e).strip().splitlines()[0] if str(e).strip() else type(e).__name__)
    name = type(e).__name__
    if "Gated" in name:
        return f"{repo} is gated: accept its licence on the hub's page and set HF_TOKEN; nothing was downloaded"
    if "NotFound" in name:
        return f"{repo} is not on the hub any more ({text})"
    return (
        f"{repo}: the hub could not be reached ({text}); what was downloaded is kept, try again or set HF_HUB_OFFLINE=1"
    )
