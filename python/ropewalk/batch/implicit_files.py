"""Files that a script of the command names in its lines, as in `python helper.py data.csv`: they are sent with it, as Coiled does."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from pathlib import Path

from ropewalk.batch.found_file import Found, describe
from ropewalk.batch.header_places import own_place
from ropewalk.batch.outside_scripts import has_script_ending
from ropewalk.batch.split_words import words_of_line
from ropewalk.package_sync.secret_names import is_secret_name

#: A larger file is data that a script happens to mention; it is sent where `upload` asks for it.
_MAX_DATA_BYTES = 32 * 1024
_MAX_SCRIPT_BYTES = 1024 * 1024
#: A script is read by people: one that names more files lists its data.
_MAX_FILES = 100
#: As Coiled has it: a line that runs Python, or that has the ending of a script or of a small file.
_MENTIONS_FILES = re.compile(r"python|\.(?:py|sh|ya?ml|txt|[ct]sv|json)\b")
#: From a `#` at the beginning of a word, outside quotes.
_COMMENT = re.compile(r"""^(?P<code>(?:[^'"#]|'[^']*'|"[^"]*"|(?<=\S)#)*)(?<!\S)#.*$""")
#: Of a shell and of Python: `open("data.csv")`, `["python", "helper.py"]`.
_SEPARATORS = re.compile(r"[|;&<>()`\\\[\]{},=]+")


def files_named_in(
    scripts: Sequence[Found], taken: Collection[str], note: Callable[[str], None], *, max_bytes: int, max_files: int
) -> list[Found]:
    """Of scripts, one level deep: files in the directory of the command that `scripts` name; `taken` are paths that are sent
    already. `max_bytes`, `max_files`: what the job can carry besides `scripts`. Files that are only named never refuse a job: those
    that cannot be sent are noted."""
    here = Path.cwd()
    sent: list[Found] = []
    left: dict[str, list[str]] = {}
    known: set[Path] = set()
    for word in dict.fromkeys(word for script in scripts for word in _words_of(script)):
        source = Path(os.path.abspath(word))
        if source in known or here not in source.parents or not os.path.isfile(source):
            continue
        known.add(source)
        file = describe(source, source.relative_to(here).as_posix())
        place = own_place(source, here)
        if file.path in taken or place == "outside":
            continue
        if place == "hidden" or _is_secret(source, here):
            reason = "they are hidden or have names of keys, credentials or databases"
        elif file.size > (_MAX_SCRIPT_BYTES if has_script_ending(file.path) else _MAX_DATA_BYTES):
            reason = "of their size"
        elif not os.access(source, os.R_OK):
            reason = "they cannot be read"
        elif len(sent) >= min(_MAX_FILES, max_files):
            reason = f"at most {_MAX_FILES} such files are sent"
        elif sum(one.size for one in sent) + file.size > max_bytes:
            reason = "a job's files have at most 10 MiB together"
        else:
            sent.append(file)
            continue
        left.setdefault(reason, []).append(file.path)
    names = ", ".join(one.path for one in scripts)
    if sent:
        note(f"sent too, because {names} names them: {', '.join(one.path for one in sent)}")
    for reason, paths in left.items():
        note(f"not sent, although {names} names them, because {reason}: {', '.join(paths)}; use upload to send them")
    return sent


def _is_secret(source: Path, here: Path) -> bool:
    """By its path in the directory of the command, and by the one to which links lead."""
    paths = (source.relative_to(here), source.resolve().relative_to(here.resolve()))
    return any(is_secret_name(path.name) or any(part.startswith(".") for part in path.parts) for path in paths)


def _words_of(script: Found) -> Iterator[str]:
    text = script.source.read_bytes().decode(errors="replace")
    if "\0" in text or not (has_script_ending(script.path) or text.startswith("#!")):
        return
    for line in re.split(r"\r\n|\n|\r", text):
        code = _COMMENT.sub(r"\g<code>", _SEPARATORS.sub(" ", line)) if len(line) <= 4_000 else ""
        if _MENTIONS_FILES.search(code):
            words = words_of_line(code) or []
            yield from (word for word in words if word and len(word) < 400 and "\0" not in word and not word.startswith("/"))
