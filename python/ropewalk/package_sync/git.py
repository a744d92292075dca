"""git in a directory whose content another person may have made: an unpacked archive, files of a server."""

from __future__ import annotations

#: Its configuration could name a program to run, and any directory could look like a repository with such a configuration.
TRUSTLESS = ("-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false")
