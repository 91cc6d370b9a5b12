"""How the two ends know each other: a secret in a file of one person's, and the fingerprint of the server's certificate."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import secrets
import shutil
import ssl
import subprocess
from dataclasses import dataclass
from pathlib import Path

from engine.files import PRIVATE, PRIVATE_FOLDER, FileError, read_bytes, read_text, write_whole
from engine.remote.line import LineError

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Hosts that only this machine reaches, and the near end of `ssh -L`."""
SHORTEST = 16
"""Characters of a token."""
LONGEST = 256
YEARS = 20
"""That a certificate is good for: its fingerprint is what counts."""
OPENSSL_SECONDS = 30.0
KNOWN = "known-servers.json"
"""The file of `KnownServers`, in the person's folder."""


def token_of(file: Path, make: bool = False) -> str:
    """The secret in a file. make: writes a new one, readable by its owner only, where there is no file. Raises FileError, as
    ssh does with a key, where the file is the person's own and others may read it: root's too."""
    try:
        if make and not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(file, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE), "w") as f:
                f.write(secrets.token_urlsafe(32) + "\n")
        if os.name == "posix" and (found := file.stat()).st_mode & 0o077 and found.st_uid == os.geteuid():
            raise FileError(f"others can read the token in {file}: chmod 600 {file}")
        token = file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as e:
        raise FileError(f"the token file {file} cannot be used ({getattr(e, 'strerror', None) or e})") from e
    if not SHORTEST <= len(token) <= LONGEST:
        raise FileError(f"the token in {file} has {len(token)} characters: {SHORTEST} to {LONGEST} are wanted")
    return token


def fingerprint(der: bytes) -> str:
    """Of a certificate in DER, written as ssh writes one of a key: SHA256: and base64 without padding."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(der).digest()).decode().rstrip("=")


@dataclass(frozen=True)
class Certificate:
    """A server's own, made by itself."""

    file: Path
    key: Path

    @classmethod
    def of(cls, folder: Path) -> Certificate:
        """The one in this folder; made at first use, with the `openssl` program. Raises FileError."""
        made = cls(folder / "certificate.pem", folder / "key.pem")
        if not (made.file.exists() and made.key.exists()):
            made._make()
        return made

    def _make(self) -> None:
        program = shutil.which("openssl")
        if program is None:
            raise FileError(
                "a certificate cannot be made without the openssl program: install it, or leave --host and --tls out and come in "
                "by ssh -L"
            )
        folder = self.file.parent
        new = [folder / "certificate.new", folder / "key.new"]
        command = [program, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        command += ["-subj", "/CN=foreland", "-days", str(365 * YEARS), "-out", str(new[0]), "-keyout", str(new[1])]
        try:
            folder.mkdir(PRIVATE_FOLDER, parents=True, exist_ok=True)
            folder.chmod(PRIVATE_FOLDER)
            subprocess.run(command, check=True, capture_output=True, timeout=OPENSSL_SECONDS, stdin=subprocess.DEVNULL)
            for part, file in zip(new[::-1], (self.key, self.file), strict=True):
                part.chmod(PRIVATE)
                part.replace(file)
        except (OSError, subprocess.SubprocessError) as e:
            said = (getattr(e, "stderr", None) or b"").decode(errors="replace").split("\n")
            raise FileError(
                f"a certificate cannot be made in {folder} ({getattr(e, 'strerror', None) or said[0] or e})"
            ) from e

    @property
    def fingerprint(self) -> str:
        """See `fingerprint`. Raises FileError."""
        try:
            return fingerprint(ssl.PEM_cert_to_DER_cert(read_text(self.file)))
        except ValueError as e:
            raise FileError(f"{self.file} is no certificate") from e

    def context(self) -> ssl.SSLContext:
        """For a server. Raises FileError."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        try:
            context.load_cert_chain(self.file, self.key)
        except OSError as e:
            raise FileError(f"the certificate in {self.file.parent} cannot be used ({e.strerror or e})") from e
        return context


def client_context() -> ssl.SSLContext:
    """For a client: whose certificate it is, is looked at by `KnownServers`, not by authorities."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


class KnownServers:
    """Fingerprints of servers by host and port, in a file of the person's, as ssh's known_hosts."""

    def __init__(self, file: Path) -> None:
        """file: JSON; made at first use."""
        self._file = file

    def check(self, place: str, found: str, expected: str | None = None) -> bool:
        """Whether this is the server's first visit: its fingerprint is then kept. place: HOST:PORT. expected: what the person
        says that it is. Raises LineError: it is another one than before or than expected."""
        if expected is not None and found != expected:
            raise LineError(
                f"the certificate of {place} is {found} and not {expected}: somebody else may be listening; nothing was sent"
            )
        known = self._read()
        if known.get(place) == found:
            return False
        if place in known and expected is None:
            raise LineError(
                f"the certificate of {place} has changed from {known[place]} to {found}: somebody else may be listening; nothing "
                f"was sent. If the server was set up anew, give --fingerprint {found}"
            )
        try:
            write_whole(self._file, (json.dumps({**known, place: found}, indent=2) + "\n").encode())
        except OSError as e:
            raise LineError(f"the fingerprint of {place} cannot be kept in {self._file} ({e.strerror or e})") from e
        return True

    def _read(self) -> dict[str, str]:
        if not self._file.exists():
            return {}
        try:
            known = json.loads(read_bytes(self._file))
            if not isinstance(known, dict):
                raise ValueError
        except (ValueError, RecursionError) as e:
            raise LineError(
                f"{self._file} cannot be read: it should be JSON of fingerprints by HOST:PORT; look at it, or delete it"
            ) from e
        return {str(k): str(v) for k, v in known.items()}
