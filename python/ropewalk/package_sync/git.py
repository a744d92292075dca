"""Runs git in a directory with untrusted content: an unpacked archive, files of a server."""

from __future__ import annotations

import os

#: The directory's configuration could name a program to run, and any directory could look like a repository with
#: such a configuration.
TRUSTLESS = ("-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false")


def trustless_environment() -> dict[str, str]:
    """This process's variables, and those that forbid transports: git would fetch a missing object from its
    configured source, which may be a program. Overrides protocols that the configuration allows."""
    return {**os.environ, "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
