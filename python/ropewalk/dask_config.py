"""The copy of this process's Dask configuration for scheduler and workers. Only values that differ from the
defaults are sent, and no credentials."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Mapping
from typing import Any

import dask

#: Dask reads a serialized configuration from this variable at import; other DASK_ variables override it.
VARIABLE = "DASK_INTERNAL_INHERIT_CONFIG"
#: The API's limit for the value of a variable.
_MAX_BYTES = 32 * 1024
#: Settings that only apply to this machine or process, that the agent sets itself, and that belong to clients.
_LOCAL = frozenset(
    {
        "ropewalk",
        "coiled",
        "config",
        "root-config",
        "internal-inherit-config",
        "scheduler",
        "scheduler-address",
        "pool",
        "num-workers",
        "temporary-directory",
        "distributed.comm.tls",
        "distributed.comm.require-encryption",
    }
)
_SECRET_WORDS = frozenset(
    "apikey auth authorization credential credentials key keys passphrase passwd password passwords secret secrets token tokens".split()
)
#: Credentials in a URL, in a connection string, and a token of Ropewalk.
_SECRET_TEXT = re.compile(r"://[^/\s]*@|(key|password|passwd|pwd|secret|token|signature)=|rw_\w+_[a-z0-9]+-", re.IGNORECASE)


def config_variables(token: str, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment variable that contains the configuration; none when nothing differs from the defaults, or
    `environ` has it. Omits values that contain `token`."""
    if VARIABLE in environ:
        return {}
    config = _sendable(_difference(dask.config.config, dask.config.merge(*dask.config.defaults)), token)
    if not config:
        return {}
    text = dask.config.serialize(config)
    if len(text) > _MAX_BYTES:
        advice = "Remove values, or set send_dask_config=False."
        warnings.warn(f"Dask's configuration is too large for the cluster, and is not sent. {advice}", stacklevel=2)
        return {}
    return {VARIABLE: text}


def _difference(config: Mapping[str, Any], defaults: Mapping[str, Any]) -> dict[str, Any]:
    differing: dict[str, Any] = {}
    for key, value in config.items():
        default = defaults.get(key)
        if isinstance(value, Mapping) and isinstance(default, Mapping):
            if inner := _difference(value, default):
                differing[key] = inner
        elif key not in defaults or value != default:
            differing[key] = value
    return differing


def _sendable(config: Mapping[str, Any], token: str, path: str = "") -> dict[str, Any]:
    sent: dict[str, Any] = {}
    for key, value in config.items():
        name = f"{path}{str(key).replace('_', '-')}"
        if name in _LOCAL or _names_a_secret(str(key)):
            continue
        if isinstance(value, Mapping):
            if inner := _sendable(value, token, f"{name}."):
                sent[str(key)] = inner
        elif _is_plain(value, token):
            sent[str(key)] = value
    return sent


def _names_a_secret(key: str) -> bool:
    words = re.split(r"[^a-z0-9]+", re.sub(r"([a-z])([A-Z])", r"\1-\2", key).lower())
    return not _SECRET_WORDS.isdisjoint(words)


def _is_plain(value: Any, token: str) -> bool:
    """Whether it can be sent as JSON, and contains no credentials."""
    if isinstance(value, (list, tuple)):
        return all(_is_plain(one, token) for one in value)
    if isinstance(value, Mapping):
        return all(not _names_a_secret(str(key)) and _is_plain(one, token) for key, one in value.items())
    if isinstance(value, str):
        return token not in value and _SECRET_TEXT.search(value) is None
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True
