"""Refuses a command whose first word names a file that exists nowhere: without this check, an instance would be
launched to find that out."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from ropewalk.batch.found_file import JobFile
from ropewalk.batch.header import names_of
from ropewalk.batch.outside_scripts import has_script_ending

#: Options whose content may provide the file on instances.
_GIVERS = ("container", "software", "host-setup-script", "input-filestore")


def check_command_path(words: Sequence[str], sent: Sequence[str], files: Sequence[JobFile], options: Mapping[str, Any]) -> None:
    """`sent`: paths of the files that are sent with the job; `files`: those whose header counts; `options` by their
    names in Python or in the API. Raises ValueError."""
    first = words[0]
    is_path = "/" in first
    if not (is_path or has_script_ending(first)) or re.search(r"[\s|;&<>$*]", first):
        return
    if re.sub(r"^(\./)+", "", first) in sent or any(options.get(name) for name in _spellings(_GIVERS)):
        return
    if not is_path and (options.get("requirements") or shutil.which(first, mode=0)):
        return
    path = os.path.expanduser(first) if first.startswith("~/") else first
    if os.path.exists(path) or any(names_of(file) & {*_GIVERS} for file in files):
        return
    raise ValueError(
        f"{first} does not exist here, so it would not be sent to the instances. "
        "Correct the path. If the file exists on the instances, use command_on_instance=True."
    )


def _spellings(names: Sequence[str]) -> list[str]:
    """`host-setup-script` is `host_setup_script`, and `hostSetupScript` in the API."""
    return [name.replace("-", "_") for name in names] + [re.sub(r"-(.)", lambda found: found[1].upper(), name) for name in names]
