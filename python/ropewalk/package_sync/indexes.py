"""Package indexes with credentials, from the configuration of pip and uv here. Others are not sent: an instance
uses its operator's index."""

from __future__ import annotations

import configparser
import contextlib
import netrc
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

_MAX = 10


@dataclass(frozen=True)
class Index:
    """`address` has no credentials. A `default` one replaces PyPI, others are searched before it."""

    address: str
    username: str
    password: str = field(repr=False)
    default: bool = False

    def as_sent(self) -> dict[str, Any]:
        sent = {"url": self.address, "username": self.username, "password": self.password}
        return {**sent, **({"default": True} if self.default else {})}


@dataclass(frozen=True)
class _Configured:
    url: str
    default: bool
    #: uv's name of the index, by which its variables name credentials.
    name: str | None = None


def find_indexes(env: Mapping[str, str] | None = None, cwd: Path | None = None) -> list[Index]:
    """In the order in which an installer searches them, each once."""
    variables = os.environ if env is None else env
    found: dict[str, Index] = {}
    for configured in [*_of_variables(variables), *_of_uv(variables, cwd or Path.cwd()), *_of_pip(variables)]:
        index = _with_credentials(configured, variables)
        if index is not None:
            found.setdefault(index.address, index)
    return list(found.values())[:_MAX]


def _with_credentials(configured: _Configured, env: Mapping[str, str]) -> Index | None:
    parts = urlsplit(configured.url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return None
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    address = urlunsplit((parts.scheme, f"{host}:{parts.port}" if parts.port else host, parts.path, parts.query, ""))
    username, password = unquote(parts.username or ""), unquote(parts.password or "")
    if configured.name is not None:
        variable = re.sub(r"[^A-Z0-9]", "_", configured.name.upper())
        username = env.get(f"UV_INDEX_{variable}_USERNAME", username)
        password = env.get(f"UV_INDEX_{variable}_PASSWORD", password)
    if not password:
        known = _of_netrc(parts.hostname, env)
        if known is not None and username in ("", known[0]):
            username, password = known
    return Index(address, username, password, configured.default) if username or password else None


def _of_netrc(host: str, env: Mapping[str, str]) -> tuple[str, str] | None:
    path = Path(env["NETRC"]) if "NETRC" in env else _home(env) / ".netrc"
    try:
        entry = netrc.netrc(str(path)).hosts.get(host)
    except (OSError, netrc.NetrcParseError):
        return None
    return None if entry is None else (entry[0], entry[2] or "")


def _of_variables(env: Mapping[str, str]) -> Iterator[_Configured]:
    for variable in ("UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL"):
        for word in env.get(variable, "").split():
            name, url = _named(word)
            yield _Configured(url, False, name)
    for variable in ("UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL"):
        if word := env.get(variable, "").strip():
            name, url = _named(word)
            yield _Configured(url, True, name)


def _named(word: str) -> tuple[str | None, str]:
    """uv's `name=url`."""
    match = re.match(r"^([A-Za-z0-9._-]+)=(https?://.*)$", word)
    return (match[1], match[2]) if match else (None, word)


def _of_uv(env: Mapping[str, str], cwd: Path) -> Iterator[_Configured]:
    """From uv.toml and pyproject.toml of the project, then of the user, then of the machine."""
    config = Path(env.get("XDG_CONFIG_HOME") or _home(env) / ".config")
    if "UV_CONFIG_FILE" in env:
        places = [Path(env["UV_CONFIG_FILE"])]
    else:
        projects = [place / name for place in (cwd, *cwd.parents) for name in ("uv.toml", "pyproject.toml")]
        places = [*[path for path in projects if path.is_file()][:1], config / "uv" / "uv.toml", Path("/etc/uv/uv.toml")]
    for path in places:
        content = _read_toml(path)
        settings = content.get("tool", {}).get("uv", {}) if path.name == "pyproject.toml" else content
        for index in settings.get("index", []):
            if isinstance(index, dict) and isinstance(index.get("url"), str):
                yield _Configured(index["url"], index.get("default") is True, index.get("name"))
        for section in (settings, settings.get("pip", {})):
            for url in section.get("extra-index-url", []):
                yield _Configured(str(url), False)
            if "index-url" in section:
                yield _Configured(str(section["index-url"]), True)


def _read_toml(path: Path) -> dict[str, Any]:
    # Older versions have no TOML parser: only the variables and pip's files count.
    if sys.version_info >= (3, 11):
        import tomllib

        with contextlib.suppress(OSError, ValueError):
            return tomllib.loads(path.read_text())
    return {}


def _of_pip(env: Mapping[str, str]) -> Iterator[_Configured]:
    config = Path(env.get("XDG_CONFIG_HOME") or _home(env) / ".config")
    own = Path(env["PIP_CONFIG_FILE"]) if "PIP_CONFIG_FILE" in env else None
    mac = _home(env) / "Library" / "Application Support" / "pip" / "pip.conf"
    places = [own, Path(sys.prefix) / "pip.conf", config / "pip" / "pip.conf", mac, _home(env) / ".pip" / "pip.conf", Path("/etc/pip.conf")]
    for path in places:
        reader = configparser.RawConfigParser()
        try:
            if path is None or not reader.read(path):
                continue
        except (configparser.Error, OSError, UnicodeDecodeError):
            continue
        for section in ("install", "global"):
            for url in reader.get(section, "extra-index-url", fallback="").split():
                yield _Configured(url, False)
            if url := reader.get(section, "index-url", fallback="").strip():
                yield _Configured(url, True)


def _home(env: Mapping[str, str]) -> Path:
    return Path(env.get("HOME") or os.path.expanduser("~"))
