"""Defaults of arguments from Dask's configuration: `ropewalk.*`, then Coiled's equivalent keys. Dask reads it from
~/.config/dask/*.yaml and from environment variables like DASK_ROPEWALK__N_WORKERS."""

from __future__ import annotations

import difflib
import functools
import inspect
import warnings
from collections.abc import Callable, Collection, Mapping
from typing import Any, ParamSpec

import dask

from ropewalk.other_arguments import OWN_NAMES

P = ParamSpec("P")

#: Objects of this process, which a file cannot contain.
NOT_CONFIGURED = frozenset({"asynchronous", "cloud", "loop"})
#: Arguments for which None is a choice, not an absent value.
_NONE_IS_A_CHOICE = frozenset({"credentials"})
#: Read by `load_config`, because their environment variables override the configuration.
_ADDRESS = frozenset({"api_url", "token"})
#: Arguments of `Cluster` whose key under `coiled` has the same meaning. Names of Coiled's workspaces and
#: environments, and its server and token, have no meaning here.
_COILED = frozenset(
    {
        "allow_ingress_from",
        "allow_ssh",
        "arm",
        "backend_options",
        "cluster_timeout",
        "container",
        "credentials",
        "environ",
        "idle_timeout",
        "n_workers",
        "package_sync",
        "package_sync_ignore",
        "private_to_creator",
        "region",
        "scheduler_cpu",
        "scheduler_memory",
        "scheduler_options",
        "scheduler_vm_types",
        "send_dask_config",
        "shutdown_on_close",
        "spot_policy",
        "tags",
        "wait_for_workers",
        "worker_cpu",
        "worker_disk_size",
        "worker_gpu",
        "worker_memory",
        "worker_options",
        "worker_vm_types",
    }
)
#: Mutually exclusive arguments: a given one replaces the configured ones of its group.
_GROUPS = (
    frozenset({"software", "container", "requirements", "package_sync"}),
    frozenset({"spot_policy", "compute_purchase_option"}),
    frozenset({"account", "workspace"}),
    frozenset({"tag", "tags"}),
    *(frozenset(pair) for pair in OWN_NAMES.items()),
)
#: The keys of `backend_options` that a given argument replaces.
_BACKEND_KEYS: Mapping[str, tuple[str, ...]] = {
    "region": ("region_name", "zone_name"),
    "zone": ("zone_name",),
    "allow_cross_zone": ("multizone_allow_cross_zone",),
    "spot_policy": ("spot", "spot_on_demand_fallback"),
    "compute_purchase_option": ("spot", "spot_on_demand_fallback"),
    "allow_ssh": ("ingress", "firewall"),
    "allow_ssh_from": ("ingress", "firewall"),
    "allow_ingress_from": ("ingress", "firewall"),
    "open_ports": ("ingress", "firewall"),
}


def configurable(more: Mapping[str, Any]) -> Callable[[Callable[P, None]], Callable[P, None]]:
    """Decorates the `__init__` of a class: arguments that are absent or None get their configured values. `more`
    are its `**` arguments, with their types, for `inspect.signature` and completion."""

    def decorate(init: Callable[P, None]) -> Callable[P, None]:
        signature = inspect.signature(init)
        parameters = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        names = [one.name for one in parameters][1:]
        accepted = {*names, *more}

        @functools.wraps(init)
        def configured(*args: P.args, **kwargs: P.kwargs) -> None:
            warn_about_unknown(accepted)
            if len(args) == 2 and names[0] not in kwargs:
                values = with_defaults({names[0]: args[1], **kwargs}, accepted)
                return init(args[0], **values)  # type: ignore[arg-type]
            return init(*args, **with_defaults(kwargs, accepted))

        named = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=getattr(kind, "__forward_arg__", kind))
            for name, kind in more.items()
        ]
        configured.__signature__ = signature.replace(parameters=[*parameters, *named])  # type: ignore[attr-defined]
        return configured

    return decorate


def with_defaults(given: Mapping[str, Any], accepted: Collection[str]) -> dict[str, Any]:
    """The given arguments, and the configured values of `accepted` arguments that are absent or None. A given dictionary is merged
    with the configured one, key by key."""
    arguments = {name: value for name, value in given.items() if value is not None or name in _NONE_IS_A_CHOICE}
    unread = NOT_CONFIGURED | _ADDRESS
    for section, names in (("ropewalk", accepted), ("coiled", _COILED.intersection(accepted))):
        configured = {name: value for name, value in _section(section).items() if name in names and name not in unread}
        arguments = _merged(arguments, configured)
    return {**{name: None for name in given if name not in accepted}, **arguments}


def warn_about_unknown(known: Collection[str]) -> None:
    """Warns about keys under `ropewalk` that match no argument."""
    readable = set(known) - NOT_CONFIGURED
    for name in _section("ropewalk"):
        if name in readable:
            continue
        near = difflib.get_close_matches(name, sorted(readable), n=1, cutoff=0.7)
        advice = f": did you mean ropewalk.{_key(near[0])}?" if near else ": no argument of ropewalk.Cluster has this name."
        why = ": it is only an argument, not a setting." if name in NOT_CONFIGURED else advice
        warnings.warn(f"Dask's configuration has the unknown key ropewalk.{_key(name)}{why}", stacklevel=3)


def configured_text(name: str) -> str | None:
    """A text under `ropewalk`, such as `api-url`."""
    value = _section("ropewalk").get(name)
    return value if isinstance(value, str) and value else None


def _merged(arguments: Mapping[str, Any], configured: Mapping[str, Any]) -> dict[str, Any]:
    merged = dict(arguments)
    for name, value in configured.items():
        if name == "backend_options":
            value = _other_backend_options(value, arguments)
        if name in arguments and isinstance(value, Mapping) and isinstance(arguments[name], Mapping):
            merged[name] = {**value, **arguments[name]}
        elif name not in arguments and not _is_replaced(name, arguments):
            merged[name] = value
    return merged


def _is_replaced(name: str, arguments: Collection[str]) -> bool:
    if name == "zone" and "region" in arguments:
        return True
    return any(name in group and group.intersection(arguments) for group in _GROUPS)


def _other_backend_options(options: Any, arguments: Mapping[str, Any]) -> Any:
    if not isinstance(options, Mapping):
        return options
    replaced = {key for name in arguments for key in _BACKEND_KEYS.get(name, ())}
    return {key: value for key, value in options.items() if key not in replaced}


def _section(section: str) -> dict[str, Any]:
    """By argument name, without unset keys."""
    found = dask.config.get(section, default=None)
    if not isinstance(found, Mapping):
        return {}
    return {str(key).replace("-", "_"): _plain(str(key), value) for key, value in found.items() if value is not None}


def _plain(key: str, value: Any) -> Any:
    # Dask's files write the keys of nested options with hyphens, and Dask treats both spellings alike.
    if key.replace("-", "_") == "backend_options" and isinstance(value, Mapping):
        return {str(one).replace("-", "_"): what for one, what in value.items()}
    return value


def _key(name: str) -> str:
    return name.replace("_", "-")
