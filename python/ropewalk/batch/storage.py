"""Files that are uploaded to the object store before a job starts, and its tasks' output files: to and from the
bucket with signed URLs, or through the API when the object store is a directory. Content is verified by SHA-256
in both directions."""

from __future__ import annotations

import hashlib
import os
import random
import re
import tempfile
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import Any, TypedDict
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from ropewalk.client_api import ClientApi, retry_after_of
from ropewalk.errors import RopewalkError
from ropewalk.retry_pause import retry_pause

FILES_AT_ONCE = 500
#: With the doubling pauses they take 15 s on average.
_ATTEMPTS = 6
_FIRST_PAUSE_S = 1.0
_MAX_PAUSE_S = 30.0
_IDLE_S = 60.0
_PIECE_BYTES = 1024 * 1024


class StoredFile(TypedDict):
    #: Relative to the working directory of a task.
    path: str
    sha256: str
    bytes: int
    executable: bool


class ListedFile(StoredFile):
    #: None for a file that a user added to a filestore.
    job: int | None
    task: int | None
    storedAt: str


def upload_files(api: ClientApi, files: Sequence[tuple[str, Path, bool]]) -> list[StoredFile]:
    """Uploads the files (path, source, executable) that are not stored yet."""
    stored: list[StoredFile] = []
    sources: dict[str, Path] = {}
    for path, source, executable in files:
        sha256 = _hash(source)
        sources[sha256] = source
        stored.append({"path": path, "sha256": sha256, "bytes": source.stat().st_size, "executable": executable})
    for batch in _batches(stored):
        for upload in _plan_uploads(api, batch):
            one = next(file for file in batch if file["sha256"] == upload["sha256"])
            _send_one(api, sources[one["sha256"]], one, upload)
    return stored


def read_list(api: ClientApi, path: str) -> list[ListedFile]:
    found: list[ListedFile] = []
    after: str | None = None
    while True:
        page = api.request("GET", path if after is None else f"{path}?after={after}")
        found.extend(page["items"])
        after = page["next"]
        if after is None:
            return found


def download_files(api: ClientApi, files: Iterable[ListedFile], into: Path) -> list[Path]:
    """Returns the paths of all files except those of git repositories, which a warning names. A file appears when
    all of it has arrived."""
    into.mkdir(parents=True, exist_ok=True)
    root = into.resolve()
    paths = []
    for file in place_files(files):
        if _is_gits(file["path"]):
            text = f"left out {file['path']!r}, which is of a repository of git: its configuration and hooks could run programs here"
            warnings.warn(text, stacklevel=2)
            continue
        target = _target(root, file["path"])
        paths.append(target)
        if not target.is_symlink() and target.is_file() and _hash(target) == file["sha256"]:
            continue
        handle, name = tempfile.mkstemp(prefix=".ropewalk-", suffix=".part", dir=target.parent)
        os.close(handle)
        try:
            _repeated(lambda file=file, name=name: _receive(api, file, Path(name)))  # type: ignore[misc]
            os.chmod(name, 0o755 if file["executable"] else 0o644)
            os.replace(name, target)
        finally:
            Path(name).unlink(missing_ok=True)
    return paths


def place_files(listed: Iterable[ListedFile]) -> list[StoredFile]:
    """A path that several tasks wrote with different content is kept for each: `out.csv` of task 3 becomes `task-3/out.csv`."""
    by_path: dict[str, dict[tuple[int | None, int | None], ListedFile]] = {}
    for file in sorted(listed, key=lambda each: each["storedAt"]):
        by_path.setdefault(file["path"], {})[(file["job"], file["task"])] = file
    placed: list[StoredFile] = []
    for path, writers in by_path.items():
        files = [*writers.values()]
        is_one = len({(file["sha256"], file["executable"]) for file in files}) == 1
        if is_one or all(file["task"] is None for file in files):
            placed.append(_place(files[-1], path))
        else:
            placed.extend(_place(file, path if file["task"] is None else f"task-{file['task']}/{path}") for file in files)
    directories = {str(parent) for file in placed for parent in Path(file["path"]).parents}
    return [_place(file, f"{file['path']}.file") if file["path"] in directories else file for file in placed]


def _place(file: StoredFile, path: str) -> StoredFile:
    return {"path": path, "sha256": file["sha256"], "bytes": file["bytes"], "executable": file["executable"]}


def _plan_uploads(api: ClientApi, files: Sequence[StoredFile]) -> list[dict[str, Any]]:
    wanted = [{"sha256": file["sha256"], "bytes": file["bytes"]} for file in files]
    uploads: list[dict[str, Any]] = api.request("POST", "/v1/file-uploads", {"files": wanted})["uploads"]
    return uploads


def _send_one(api: ClientApi, source: Path, file: StoredFile, planned: dict[str, Any]) -> None:
    plans = [planned]

    def attempt() -> None:
        # Signed URLs expire, and the content may be stored by now.
        uploads = [*plans] or _plan_uploads(api, [file])
        plans.clear()
        for upload in uploads:
            url, headers = (upload["url"], upload["headers"]) if upload["url"] else api.file_place(file["sha256"])
            with source.open("rb") as content:
                headers = {**headers, "Content-Length": str(file["bytes"]), "Content-Type": "application/octet-stream"}
                # An empty file has no body: urllib would send one in chunks.
                data: Any = content if file["bytes"] else b""
                with urlopen(Request(url, data=data, headers=headers, method="PUT"), timeout=_IDLE_S) as answer:
                    answer.read()

    _repeated(attempt)


def _receive(api: ClientApi, file: StoredFile, target: Path) -> None:
    [found] = api.request("POST", "/v1/file-downloads", {"sha256s": [file["sha256"]]})["downloads"]
    if not found["isStored"]:
        raise RopewalkError(f"The content of {file['path']!r} is not in the object store any more.", code="NOT_FOUND")
    url, headers = (found["url"], {}) if found["url"] else api.file_place(file["sha256"])
    digest = hashlib.sha256()
    with urlopen(Request(url, headers=headers), timeout=_IDLE_S) as answer, target.open("wb") as out:
        while piece := answer.read(_PIECE_BYTES):
            digest.update(piece)
            out.write(piece)
    if digest.hexdigest() != file["sha256"]:
        raise OSError(f"{file['path']!r} arrived damaged")


def _repeated(attempt: Callable[[], None]) -> None:
    for number in range(1, _ATTEMPTS + 1):
        retry_after_s = 0.0
        try:
            return attempt()
        except HTTPError as error:
            error.close()
            retry_after_s = retry_after_of(error.headers.get("Retry-After"))
            # Omits the URL, because it is signed.
            reason = f"A file could not be transferred: HTTP status {error.code}."
            if number == _ATTEMPTS or error.code in (409, 413):
                raise RopewalkError(reason, code="UNAVAILABLE", status=error.code) from None
        except (HTTPException, OSError) as error:
            if number == _ATTEMPTS:
                raise RopewalkError(f"A file could not be transferred: {error}.", code="UNREACHABLE") from None
        time.sleep(retry_pause(number, retry_after_s, first_s=_FIRST_PAUSE_S, max_s=_MAX_PAUSE_S, random=random.random()))


def _target(root: Path, path: str) -> Path:
    """A path from the server, and a symbolic link in the directory, must not lead out of it."""
    target = root.joinpath(*path.split("/"))
    existing = target.parent
    while not existing.exists() and existing != root:
        existing = existing.parent
    is_inside = ".." not in path.split("/") and not path.startswith("/") and existing.resolve().is_relative_to(root)
    if not is_inside:
        raise RopewalkError(f"The file {path!r} would lie outside {root}: it is not downloaded.", code="VALIDATION")
    target.parent.mkdir(parents=True, exist_ok=True)
    return target


#: Includes its short name on Windows.
_GITS = re.compile(r"\.git$|\.?git~\d+$")


def _is_gits(path: str) -> bool:
    return any(_GITS.match(_plain(name)) for name in re.split(r"[/\\]", path))


def _plain(name: str) -> str:
    """In the form in which file systems compare names: some ignore case, and drop zero-width characters, or
    trailing dots."""
    seen = "".join(one for one in unicodedata.normalize("NFKC", name) if unicodedata.category(one) != "Cf")
    return seen.lower().partition(":")[0].rstrip(". ")


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as content:
        while piece := content.read(_PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest()


def _batches(files: Sequence[StoredFile]) -> Iterable[Sequence[StoredFile]]:
    return (files[start : start + FILES_AT_ONCE] for start in range(0, len(files), FILES_AT_ONCE))
