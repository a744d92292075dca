"""Zip files whose bytes depend only on their content, so that equal content has one SHA-256 and is uploaded once."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass

#: The earliest time that a zip file can store.
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class PackageFile:
    """A wheel, or a zip file of modules."""

    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()


def zip_of(files: Mapping[str, bytes]) -> bytes:
    """`files`: content by path, with `/` between the parts."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(files):
            entry = zipfile.ZipInfo(path, _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, files[path])
    return buffer.getvalue()


def files_of(content: bytes) -> dict[str, bytes]:
    """The files of a zip file, without directories."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist() if not entry.is_dir()}
