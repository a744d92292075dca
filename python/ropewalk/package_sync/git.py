"""Runs git in a directory with untrusted content: an unpacked archive, files of a server."""

from __future__ import annotations

import os

#: Its configuration could name a program to run, and any directory could look like a repository with such a configuration.
TRUSTLESS = ("-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false")


def trustless_environment() -> dict[str, str]:
    """The variables of this process, and those that forbid transports: git would fetch an object that is missing from where its
    configuration says, which may be a program. A protocol that the configuration allows is forbidden too."""
    return {**os.environ, "GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
