"""Translates Coiled's `backend_options` into arguments of `Cluster`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SSH, _DASK = 22, 8786
#: Ports of the dashboard. It is reached through the API with the API's access rules, so rules for these ports have no effect.
_DASHBOARD = (80, 443, 8787)
_KNOWN = ("firewall", "ingress", "multizone_allow_cross_zone", "region_name", "spot", "spot_on_demand_fallback", "zone_name")


def read_backend_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `Cluster`. Raises ValueError naming the key."""
    unknown = sorted(set(options) - set(_KNOWN))
    if unknown:
        raise ValueError(f"backend_options: {unknown[0]!r} is not supported; supported are: {', '.join(_KNOWN)}")
    read: dict[str, Any] = {
        "region": options.get("region_name"),
        "zone": options.get("zone_name"),
        "allow_cross_zone": options.get("multizone_allow_cross_zone"),
        "spot_policy": _policy(options),
        **_ingress_rules(options),
    }
    return {name: value for name, value in read.items() if value is not None}


def _policy(options: Mapping[str, Any]) -> str | None:
    spot = options.get("spot")
    if spot is None:
        return None
    if not spot:
        return "on-demand"
    return "spot_with_fallback" if options.get("spot_on_demand_fallback") else "spot"


def _ingress_rules(options: Mapping[str, Any]) -> dict[str, Any]:
    """Reads `ingress`, a list of {"ports": [...], "cidr": "..."}, and its older form `firewall`, one such rule."""
    rules: dict[str, Any] = {}
    others: dict[int, str] = {}
    firewall = options.get("firewall")
    for rule in [*(options.get("ingress") or []), *([] if firewall is None else [firewall])]:
        if not isinstance(rule, Mapping) or not isinstance(rule.get("cidr"), str):
            raise ValueError('backend_options: write a rule of ingress as {"ports": [22, 8786], "cidr": "203.0.113.0/24"}')
        for port in rule.get("ports") or []:
            if port in _DASHBOARD:
                continue
            if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65_535:
                raise ValueError(f"backend_options: {port!r} is not a port: give numbers from 1 to 65535")
            if port in (_SSH, _DASK):
                name = "allow_ssh_from" if port == _SSH else "allow_ingress_from"
                rules[name] = _joined(rules.get(name), rule["cidr"])
            else:
                others[port] = _joined(others.get(port), rule["cidr"])
    return {**rules, **({"allow_ssh": True} if "allow_ssh_from" in rules else {}), **({"open_ports": others} if others else {})}


def _joined(known: str | None, cidr: str) -> str:
    return ",".join(dict.fromkeys([*([] if known is None else known.split(",")), cidr]))
