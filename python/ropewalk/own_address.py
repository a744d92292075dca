"""Replaces `me` in the sources of ingress rules by this machine's public address, which only the client can
determine."""

from __future__ import annotations

import ipaddress
import os
import urllib.request

#: Returns its caller's address as text; ROPEWALK_ADDRESS_URL names another.
ADDRESS_URL = "https://checkip.amazonaws.com"
_TIMEOUT_S = 10


def resolve_me(sources: str, name: str) -> str:
    """The sources, separated by commas, with every `me` replaced. Raises ValueError when the address cannot be found."""
    parts = [source.strip() for source in sources.split(",")]
    if "me" not in parts:
        return sources
    address = _own_address(name)
    return ",".join(address if source == "me" else source for source in parts)


def _own_address(name: str) -> str:
    url = os.environ.get("ROPEWALK_ADDRESS_URL") or ADDRESS_URL
    try:
        if not url.startswith(("http://", "https://")):
            raise ValueError("it is not an http or https URL")
        with urllib.request.urlopen(url, timeout=_TIMEOUT_S) as answer:
            return str(ipaddress.ip_address(answer.read(100).decode("ascii", "replace").strip()))
    except (OSError, ValueError) as error:
        raise ValueError(
            f'{name}: the public address of this machine is unknown: {url} gave no address ({error}). Give the address instead'
            ' of "me", or set ROPEWALK_ADDRESS_URL to a service that answers with it.'
        ) from None
