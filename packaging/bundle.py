"""Bundles of Foreland: a folder that runs without Python, and a .deb of it on Debian.

    python packaging/bundle.py            dist/foreland/ (Linux, Windows) or dist/Foreland.app (macOS)
    python packaging/bundle.py deb        the same, and dist/foreland_VERSION_ARCHITECTURE.deb
    python packaging/bundle.py try        starts the bundle with nothing of this environment and explores for some seconds

A bundle is for the system that it is made on. Needs the `bundle` extra (PyInstaller).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"
FOLDER = DIST / "foreland"
DEPENDS = (
    "libegl1, libgl1, libxkbcommon-x11-0, libxcb-cursor0, libxcb-icccm4, libxcb-image0, libxcb-keysyms1, libxcb-randr0, "
    "libxcb-render-util0, libxcb-shape0, libxcb-xinerama0, libxcb-xkb1, libdbus-1-3, libfontconfig1, fonts-dejavu-core, libportaudio2"
)


def version() -> str:
    found = re.search(r'^version = "([^"]+)"', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert found is not None
    return found[1]


def size_mb(folder: Path) -> float:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file() and not f.is_symlink()) / 2**20


def build() -> Path:
    """Runs PyInstaller; returns the folder."""
    command = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "WARN"]
    command += ["--distpath", str(DIST), "--workpath", str(ROOT / "build"), str(ROOT / "packaging" / "foreland.spec")]
    subprocess.run(command, cwd=ROOT, check=True)
    print(f"{FOLDER}: {size_mb(FOLDER):.0f} MB")
    return FOLDER


def deb() -> Path:
    """Puts the folder into a package with a desktop entry and an icon."""
    architecture = subprocess.run(
        ["dpkg", "--print-architecture"], capture_output=True, text=True, check=True
    ).stdout.strip()
    target = DIST / f"foreland_{version()}_{architecture}.deb"
    with tempfile.TemporaryDirectory() as t:
        root = Path(t) / "root"
        shutil.copytree(FOLDER, root / "opt" / "foreland", symlinks=True)
        for where in (
            "usr/bin",
            "usr/share/applications",
            "usr/share/icons/hicolor/256x256/apps",
            "usr/share/doc/foreland",
            "DEBIAN",
        ):
            (root / where).mkdir(parents=True)
        (root / "usr/bin/foreland").symlink_to("/opt/foreland/foreland")
        shutil.copy(ROOT / "packaging" / "foreland.desktop", root / "usr/share/applications")
        shutil.copy(ROOT / "assets" / "icon.png", root / "usr/share/icons/hicolor/256x256/apps/foreland.png")
        shutil.copy(ROOT / "CHANGELOG.md", root / "usr/share/doc/foreland/changes.md")
        (root / "DEBIAN" / "control").write_text(
            f"Package: foreland\nVersion: {version()}\nArchitecture: {architecture}\n"
            "Maintainer: the Foreland founders <foreland@localhost>\n"
            f"Installed-Size: {int(size_mb(FOLDER) * 1024)}\nDepends: {DEPENDS}\nSection: graphics\nPriority: optional\n"
            "Description: explore worlds that a video diffusion model makes up as you go\n"
            " Foreland samples large chunks, keeps them as predictions that can be revoked, and answers a key at once.\n"
        )
        subprocess.run(["dpkg-deb", "--build", "--root-owner-group", "-Zxz", "-z1", str(root), str(target)], check=True)
    print(f"{target}: {target.stat().st_size / 2**20:.0f} MB")
    return target


def try_it() -> int:
    """Explores with the bundle, with an empty environment and no Python on its path; status 0 when a film came out."""
    with tempfile.TemporaryDirectory() as t:
        environment = {"PATH": "/nowhere", "HOME": t, "FORELAND_HOME": t, "LANG": "C.UTF-8"}
        if "DISPLAY" in os.environ:
            environment |= {"DISPLAY": os.environ["DISPLAY"]}
        film = Path(t) / "world.mp4"
        name = FOLDER / ("foreland.exe" if os.name == "nt" else "foreland")
        done = subprocess.run([str(name), "explore", "--seconds", "4", "--out", str(film)], env=environment, cwd=t)
        print(f"explored: status {done.returncode}, film of {film.stat().st_size if film.exists() else 0} bytes")
        return done.returncode or (0 if film.exists() and film.stat().st_size > 10_000 else 1)


def main() -> int:
    verbs = sys.argv[1:] or ["build"]
    for verb in verbs:
        if verb == "build":
            build()
        elif verb == "deb":
            build()
            deb()
        elif verb == "try":
            if status := try_it():
                return status
        else:
            print(__doc__)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
