"""Why package sync cannot continue."""

from __future__ import annotations


class PackageSyncError(Exception):
    """A required package cannot be sent. `hint` is the remedy."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
