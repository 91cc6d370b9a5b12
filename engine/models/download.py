"""One file of the hub into its library's cache, so that it can be stopped and gone on with.

The library itself throws away what it has of a file when a download ends early, and, where its xet client downloads, it cannot be
stopped. So large files are requested here, over plain HTTP, into `blobs/NAME.part`; the next download asks for the rest. What the cache
looks like, addresses, headers and retries are the library's.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

SMALL = 16 << 20
"""Bytes of a file that is downloaded by the library as it does: it is here again in a moment."""
PART = ".part"
ORPHAN_AGE = 3600.0
"""Seconds without a write after which an unfinished file of the library belongs to nobody any more."""


@dataclass(frozen=True)
class RemoteFile:
    """A file of a repository; size in bytes; sha256 where the hub says it."""

    repo: str
    name: str
    size: int
    sha256: str | None
    commit: str = "main"
    """Of the repository, so that all files of a pull belong together."""


Tell = Callable[[int], None]
"""Called with the bytes of a file that are there. What it raises ends the download; what is there is kept."""


def download(file: RemoteFile, tell: Tell, endpoint: str | None = None) -> None:
    """Raises what the library raises, and what `tell` does."""
    from huggingface_hub import constants, hf_hub_download

    if SMALL < file.size <= constants.MAX_HTTP_DOWNLOAD_SIZE and cached(file) is None:
        _fetch(file, tell, endpoint)
    # finds a file that was fetched and puts it into the snapshot
    hf_hub_download(file.repo, file.name, revision=file.commit, endpoint=endpoint, tqdm_class=_bar(tell))


def _fetch(file: RemoteFile, tell: Tell, endpoint: str | None) -> None:
    from huggingface_hub.file_download import get_hf_file_metadata, hf_hub_url, http_get
    from huggingface_hub.utils import HfHubHTTPError, WeakFileLock, build_hf_headers

    url = hf_hub_url(file.repo, file.name, revision=file.commit, endpoint=endpoint)
    found = get_hf_file_metadata(url, endpoint=endpoint)
    assert found.etag is not None
    blob = repository(file.repo) / "blobs" / found.etag
    part = blob.with_name(blob.name + PART)
    blob.parent.mkdir(parents=True, exist_ok=True)
    lock = repository(file.repo).parent / ".locks" / repository(file.repo).name / f"{found.etag}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with WeakFileLock(str(lock)):
        while not blob.exists():
            there = part.stat().st_size if part.exists() else 0
            tell(there)
            headers = build_hf_headers()
            if urlparse(found.location).netloc != urlparse(url).netloc:
                headers.pop("authorization", None)  # the address is signed; the token is for the hub alone
            try:
                with part.open("ab") as f:
                    http_get(
                        found.location,
                        f,
                        resume_size=there,
                        headers=headers,
                        expected_size=found.size,
                        tqdm_class=_bar(tell),
                    )
            except HfHubHTTPError:
                if part.stat().st_size == there:
                    raise
                found = get_hf_file_metadata(url, endpoint=endpoint)  # a signed address does not hold for ever
            else:
                os.replace(part, blob)


def repository(repo: str) -> Path:
    """Where the library keeps a repository."""
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    return Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=repo, repo_type="model")


def cached(file: RemoteFile) -> Path | None:
    """Where a file is in the cache, or None. Raises ValueError for a name that no file can have."""
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(file.repo, file.name, revision=file.commit)
    return Path(found) if isinstance(found, str) else None


def discard(file: RemoteFile) -> None:
    """Removes a file that is damaged, so that the next download loads it again."""
    path = cached(file)
    if path is not None:
        path.resolve().unlink(missing_ok=True)
        path.unlink(missing_ok=True)


def unfinished(repo: str) -> int:
    """Bytes of a repository that were loaded and not finished, and will be gone on from."""
    return sum(f.stat().st_size for f in (repository(repo) / "blobs").glob(f"*{PART}") if f.is_file())


def sweep(repo: str, now: float | None = None) -> None:
    """Removes what killed processes left of the library's own downloads, which nobody goes on from."""
    now = time.time() if now is None else now
    for file in (repository(repo) / "blobs").glob("*.incomplete"):
        if now - file.stat().st_mtime > ORPHAN_AGE:
            file.unlink(missing_ok=True)


def sweep_parts(repo: str) -> None:
    """Removes what is left of files that the hub has no more, after everything was loaded."""
    for file in (repository(repo) / "blobs").glob(f"*{PART}"):
        file.unlink(missing_ok=True)


def point_main_at(repo: str, commit: str) -> None:
    """Makes a commit the one that the library finds offline where none is named."""
    ref = repository(repo) / "refs" / "main"
    ref.parent.mkdir(parents=True, exist_ok=True)
    ref.write_text(commit)


def free_bytes(folder: Path) -> int:
    """On the disk of a folder that need not be there yet."""
    return shutil.disk_usage(next(p for p in (folder, *folder.parents) if p.exists())).free


def _bar(tell: Tell) -> Any:
    """A tqdm that reports instead of drawing."""
    import io

    from tqdm.auto import tqdm

    class Bar(tqdm):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            kwargs.pop("name", None)
            kwargs["disable"] = False
            kwargs["file"] = io.StringIO()
            super().__init__(*args, **kwargs)

        def update(self, n: float | None = 1) -> bool | None:
            out = super().update(n)
            if getattr(self, "unit", "") == "B":
                tell(int(self.n))
            return out

    return Bar
