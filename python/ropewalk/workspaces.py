"""A token belongs to one workspace: a request for another one is refused before anything else is sent."""

from __future__ import annotations

from ropewalk.errors import RopewalkError


def workspace_name(workspace: str | None, account: str | None) -> str | None:
    """`account` is Coiled's older name of `workspace`. Raises ValueError when both are given and differ."""
    if workspace is not None and account is not None and workspace != account:
        raise ValueError(f"workspace is {workspace!r} and account is {account!r}: both name the workspace; give one of them")
    return account if workspace is None else workspace


def refuse_other(own: str, wanted: str) -> None:
    """Raises RopewalkError FORBIDDEN when the token's workspace is not the wanted one."""
    if own == wanted:
        return
    hint = f"Sign in there with `ropewalk login`, or give a token of {wanted}."
    raise RopewalkError(f"The token is of the workspace {own}, not of {wanted}.", code="FORBIDDEN", hint=hint, status=403)
