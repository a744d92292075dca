"""Arguments of Coiled's Cluster without a counterpart here: each is refused with the reason, all together, before
anything is launched. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict


class OtherArguments(TypedDict, total=False):
    cloud: Any
    use_dashboard_https: bool | None


OTHER_ARGUMENTS = frozenset(OtherArguments.__annotations__)

#: By argument: the values without effect, and why any other is refused.
_REFUSED: Mapping[str, tuple[tuple[Any, ...], str]] = {
    "cloud": ((None,), "api_url and token say which server is used, and as whom"),
    "use_dashboard_https": ((None, True), "the dashboard is only reachable through the API, for signed-in users"),
}


def refuse_others(arguments: Mapping[str, Any]) -> None:
    """Raises ValueError naming every argument that cannot have its effect here."""
    problems = [
        f"{name}={value!r} has no effect here: {_REFUSED[name][1]}"
        for name, value in arguments.items()
        if not any(value is neutral or (neutral is not None and value == neutral) for neutral in _REFUSED[name][0])
    ]
    if problems:
        raise ValueError("; ".join(problems))
