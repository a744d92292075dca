"""Errors, with a hint for the remedy. No error contains a token, a key or the value of a variable."""

from __future__ import annotations

from ropewalk.printable import clean_lines


class RopewalkError(Exception):
    """The API refused the request, or could not be reached."""

    def __init__(
        self,
        message: str,
        *,
        code: str,
        field: str | None = None,
        hint: str | None = None,
        request_id: str | None = None,
        status: int | None = None,
    ) -> None:
        # The API's texts quote other users, and tracebacks are printed on a terminal.
        self.message = clean_lines(message)
        super().__init__(self.message)
        #: A code of docs/errors.md, e.g. VALIDATION or NAME_TAKEN.
        self.code = code
        #: The invalid input field, by its name in the API.
        self.field = field
        self.hint = None if hint is None else clean_lines(hint)
        #: Identifies the request in the server's logs.
        self.request_id = request_id
        #: The HTTP status; None without an answer.
        self.status = status

    def __str__(self) -> str:
        hint = f" {self.hint}" if self.hint else ""
        request = f", request {self.request_id}" if self.request_id else ""
        return f"{self.message}{hint} [{self.code}{request}]"


class ClusterFailedError(RopewalkError):
    """The cluster has ended, or the awaited state can no longer be reached."""


class ClusterEndedError(ClusterFailedError):
    """The cluster ended while it was in use; the message says when and why."""

    def __str__(self) -> str:
        return self.message


class ClusterTimeoutError(RopewalkError, TimeoutError):
    """The awaited state was not reached in time."""


class JobTimeoutError(RopewalkError, TimeoutError):
    """The job did not end in time; it continues."""
