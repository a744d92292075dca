"""The files of a job: those that its command names, and those of `upload`. They are copied into each task's working
directory. A few small ones are sent with the job, sealed; others are uploaded to the object store first."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from ropewalk.batch.found_file import Found, JobFile, describe, walk_linked
from ropewalk.batch.implicit_files import files_named_in
from ropewalk.batch.outside_scripts import is_script

MAX_WORD_FILE_BYTES = 1024 * 1024
MAX_TOTAL_BYTES = 10 * 1024 * 1024
MAX_FILES = 1_000
MAX_STORED_FILES = 10_000


def collect_files(
    words: Sequence[str],
    uploads: Sequence[Path],
    note: Callable[[str], None],
    *,
    store_all: bool = False,
    search_scripts: bool = True,
) -> tuple[list[JobFile], list[tuple[str, Path, bool]], list[str]]:
    """The files that go with the job; those of `upload` (path, source, executable) that are too many or too large for that, or all
    of them with `store_all`; and the words of the command: a script outside the working directory is named by its place there.
    With `search_scripts` files that scripts of the command name in their lines are sent too. `note` gets a sentence for each file that
    the user may expect to be sent and that is not, and for those that a script names."""
    sent = {word: one for word in dict.fromkeys(words) if (one := _of_word(word, note)) is not None}
    found: dict[str, Found] = {}
    for one in [*sent.values(), *(one for upload in uploads for one in _of_upload(upload, note))]:
        other = found.setdefault(one.path, one)
        if other.source != one.source:
            raise ValueError(f"{other.source} and {one.source} would both become {one.path} in the working directory")
        if len(found) > MAX_STORED_FILES:
            raise ValueError(f"a job can have at most {MAX_STORED_FILES} files: pack them, and unpack them in the task")
    # Files that the user names take precedence over those that a script names.
    scripts = [*sent.values()]
    # The files of `upload` are not counted: those that do not fit go to the object store.
    max_bytes = MAX_TOTAL_BYTES - sum(one.size for one in scripts)
    max_files = MAX_FILES - len(scripts)
    named = files_named_in(scripts, found, note, max_bytes=max_bytes, max_files=max_files) if search_scripts else []
    found |= {one.path: one for one in named}
    of_words = {one.path for one in [*sent.values(), *named]}
    fits = len(found) <= MAX_FILES and sum(one.size for one in found.values()) <= MAX_TOTAL_BYTES
    with_job = [one for one in found.values() if one.path in of_words or (fits and not store_all)]
    stored = [(one.path, one.source, one.executable) for one in found.values() if one not in with_job]
    _check_size(with_job)
    renamed = [_renamed(word, sent[word].path) if word in sent else word for word in words]
    return [one.read(implicit=one in named) for one in with_job], stored, renamed


def _renamed(word: str, path: str) -> str:
    """`./script.sh` stays as written."""
    return word if re.sub(r"^(\./)+", "", word) == path else path


def _of_word(word: str, note: Callable[[str], None]) -> Found | None:
    if not word or len(word) > 4_000 or "\0" in word:
        return None
    here = Path.cwd()
    # Without following links: a link below this directory is one of its files.
    source = Path(os.path.abspath(os.path.expanduser(word) if word.startswith("~/") else word))
    if not os.path.isfile(source):
        return None
    is_below = here in source.parents
    path = source.relative_to(here).as_posix() if is_below else source.name
    is_small = (size := source.stat().st_size) <= MAX_WORD_FILE_BYTES
    if not is_below or os.path.isabs(word) or word.startswith("~/"):
        if is_small and is_script(source, source.read_bytes()):
            return describe(source, path)
        # Most absolute words are programs or data of the instance.
        if is_below:
            note(f"{word} is not sent: it is an absolute path and no script; write {path} to send it")
        elif not os.path.isabs(word):
            note(f"{word} is not sent: it is outside the current directory; use upload to send it")
        return None
    if is_small:
        return describe(source, path)
    note(f"{word} is not sent: it has {_mib(size)}, more than 1 MiB; use upload to send it")
    return None


#: The name of an incomplete download: it is not a file of the user.
_PART = re.compile(r"\.ropewalk-\w{8,16}\.part")


def _of_upload(upload: Path, note: Callable[[str], None]) -> Iterator[Found]:
    """As in Coiled: a file is put into the working directory under its name, a directory's content without the directory's
    name."""
    source = Path(os.path.abspath(upload))
    if not source.is_dir():
        if not source.is_file():
            raise ValueError(f"upload: {upload} is neither a file nor a directory")
        yield describe(source, source.name)
        return
    skipped: list[str] = []
    for directory, directories, files in walk_linked(source, _unreadable):
        if not directories and not files and (place := Path(directory)) != source:
            skipped.append(f"{place.relative_to(source).as_posix()}/ (an empty directory: a task that needs it makes it)")
        for name in files:
            file = Path(directory, name)
            path = file.relative_to(source).as_posix()
            if _PART.fullmatch(name):
                continue
            if (shown := os.fsencode(path).decode(errors="backslashreplace")) != path:
                skipped.append(f"{shown} (its name is not in UTF-8)")
            elif file.is_file():
                yield describe(file, path)
            else:
                skipped.append(f"{path} ({'neither a file nor a directory' if file.exists() else 'a link to nothing'})")
    if skipped:
        more = f", and {len(skipped) - 3} more" if len(skipped) > 3 else ""
        note(f"not sent of {upload}: {', '.join(skipped[:3])}{more}")


def _unreadable(error: OSError) -> None:
    raise ValueError(f"upload: cannot read {error.filename}: {error.strerror}")


def _check_size(files: list[Found]) -> None:
    total = sum(one.size for one in files)
    if total <= MAX_TOTAL_BYTES:
        return
    largest = ", ".join(f"{one.path} ({_mib(one.size)})" for one in sorted(files, key=lambda one: -one.size)[:3])
    raise ValueError(
        f"the job's files have {_mib(total)} together, more than 10 MiB; the largest: {largest}. "
        "Put large data where tasks can read it themselves, for example in a bucket, and send only its name."
    )


def _mib(size: int) -> str:
    return f"{size / 1024 / 1024:.1f} MiB"
