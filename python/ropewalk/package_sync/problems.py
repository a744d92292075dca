"""Why package sync cannot go on."""

from __future__ import annotations


class PackageSyncError(Exception):
    """Something that is needed cannot be brought. `hint` says what to do."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
