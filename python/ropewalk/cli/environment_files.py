"""Variables and files in options of `batch run`. Errors never contain values."""

from __future__ import annotations

import base64
import binascii
import json
import os
import re
from collections.abc import Sequence
from pathlib import Path

import click

#: A line of a file in .env format, as Node and dotenv read it; a value in quotes can have several lines.
_ENTRY = re.compile(
    r"""^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*(?:'([^']*)'|"([^"]*)"|`([^`]*)`|([^#\r\n]*))[ \t]*(?:#.*)?$""", re.MULTILINE
)


def read_variables(name: str, pairs: Sequence[str], files: Sequence[str]) -> dict[str, str]:
    """Files first, in order, then pairs; a later value wins."""
    found: dict[str, str] = {}
    for path in files:
        found |= _read_file(read_text(f"{name}-file", path))
    return found | dict(_pair(name, pair) for pair in pairs)


def _read_file(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for entry in _ENTRY.finditer(text):
        name, single, double, back, plain = entry.groups()
        if double is not None:
            found[name] = double.replace("\\n", "\n")
        else:
            found[name] = next(value for value in (single, back, (plain or "").strip()) if value is not None)
    return found


def _pair(option: str, pair: str) -> tuple[str, str]:
    """`KEY=val`; or only `KEY`, which takes its value from this program's environment and keeps it off the command line."""
    name, equals, value = pair.partition("=")
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is None:
        raise click.UsageError(f"{option}: must be KEY=val, with letters, digits and _ in KEY. For example {option} MODE=fast.")
    if equals:
        return name, value
    if name not in os.environ:
        raise click.UsageError(f"{option} {name}: has no value, and the environment has no variable {name}")
    return name, os.environ[name]


def read_text(option: str, path: str) -> str:
    try:
        return Path(path).expanduser().read_text("utf-8")
    except OSError as error:
        raise click.UsageError(f"{option}: cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise click.UsageError(f"{option}: {path} is not text in UTF-8") from None


def read_requirements(path: str) -> list[str]:
    """Lines without comments. The server refuses options of pip (`-r other.txt`) and names the line."""
    lines = [re.sub(r"(^|\s)#.*", "", line).strip() for line in read_text("--requirements-file", path).splitlines()]
    return [line for line in lines if line]


def read_registry_auth(path: str) -> dict[str, tuple[str, str]]:
    """User and password of each registry, from a file in the format of Docker's config.json."""
    try:
        auths = json.loads(read_text("--registry-auth", path)).get("auths", {})
        # Docker also writes registries as URLs.
        found = {_registry(name): _credentials(entry["auth"]) for name, entry in auths.items() if "auth" in entry}
    except (ValueError, AttributeError, TypeError, binascii.Error):
        raise click.UsageError(f"--registry-auth: {path} is not JSON as Docker's config.json") from None
    if found:
        return found
    raise click.UsageError(
        f'--registry-auth: {path} has no credentials: "docker login" with a credential helper keeps them elsewhere; '
        'write {"auths": {"REGISTRY": {"auth": "BASE64 OF user:password"}}}'
    )


def _registry(name: str) -> str:
    return re.sub(r"^https?://", "", name).rstrip("/")


def _credentials(auth: str) -> tuple[str, str]:
    user, _, password = base64.b64decode(auth, validate=True).decode().partition(":")
    return user, password


def says_yes(option: str, value: str) -> bool:
    """The value of a flag for which Coiled's command line requires a value."""
    if value.lower() in ("true", "1", "yes"):
        return True
    if value.lower() in ("false", "0", "no"):
        return False
    raise click.UsageError(f'{option}: "{value}" is neither true nor false')
