"""The address of the API and the token: from arguments, then ROPEWALK_API_URL and ROPEWALK_TOKEN, then `ropewalk.api-url` and
`ropewalk.token` of Dask's configuration, then config.yaml."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from ropewalk.defaults import configured_text
from ropewalk.errors import RopewalkError


@dataclass(frozen=True)
class Config:
    #: Without a trailing slash.
    api_url: str
    token: str = field(repr=False)


def load_config(
    api_url: str | None = None, token: str | None = None, environ: Mapping[str, str] | None = None
) -> Config:
    env = os.environ if environ is None else environ
    path = config_file(env)
    url = api_url or env.get("ROPEWALK_API_URL") or configured_text("api_url")
    secret = token or env.get("ROPEWALK_TOKEN") or configured_text("token")
    if not url or not secret:
        saved = read_config(path)
        url = url or saved.get("apiUrl")
        secret = secret or saved.get("token")
    if not url:
        raise _missing("The address of the Ropewalk API is not set", "api_url", "ROPEWALK_API_URL", path)
    if not secret:
        raise _missing(f"There is no token for {url}", "token", "ROPEWALK_TOKEN", path)
    if any(character <= " " or character > "~" for character in secret):
        raise RopewalkError("The token has invalid characters.", code="CONFIG", field="token")
    return Config(_checked(url), secret)


def load_api_url(api_url: str | None = None) -> str:
    """The address without a token, for signing in."""
    path = config_file()
    url = api_url or os.environ.get("ROPEWALK_API_URL") or configured_text("api_url") or read_config(path).get("apiUrl")
    if not url:
        raise _missing("The address of the Ropewalk API is not set", "api_url", "ROPEWALK_API_URL", path)
    return _checked(url)


def config_file(environ: Mapping[str, str] | None = None) -> Path:
    """config.yaml in Ropewalk's home."""
    env = os.environ if environ is None else environ
    return Path(env.get("ROPEWALK_HOME") or "~/.ropewalk").expanduser() / "config.yaml"


def read_config(path: Path) -> dict[str, str]:
    """Its text settings; empty when there is no file."""
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        # The text of a YAML error quotes the file, which contains a token.
        why = error.strerror if isinstance(error, OSError) else "it is not YAML"
        raise RopewalkError(f"{path} cannot be read: {why}.", code="CONFIG") from None
    if not isinstance(content, dict):
        return {}
    return {str(key): value for key, value in content.items() if isinstance(value, str)}


def _checked(url: str) -> str:
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        valid = False
    if not valid or any(character <= " " for character in url):
        hint = 'Write it like "https://ropewalk.example.org".'
        raise RopewalkError("The URL of the API is not a URL.", code="CONFIG", field="api_url", hint=hint)
    return url.rstrip("/")


def _missing(what: str, argument: str, variable: str, path: Path) -> RopewalkError:
    hint = (
        f"Pass {argument}=..., set {variable}, or sign in with `ropewalk login`, which writes {path}; "
        "so does `npm start` of a checkout, which starts a server on this machine."
    )
    return RopewalkError(f"{what}.", code="CONFIG", field=argument, hint=hint)
