"""What can go wrong, told so that whoever reads it knows what to do. No error holds a token, a key or a variable's value."""

from __future__ import annotations


class RopewalkError(Exception):
    """The API refused, or could not be asked."""

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
        super().__init__(message)
        self.message = message
        #: A word of docs/errors.md, such as VALIDATION or NAME_TAKEN.
        self.code = code
        #: The input at fault, as the API calls it.
        self.field = field
        self.hint = hint
        #: By this the server's logs can be searched.
        self.request_id = request_id
        #: Of HTTP; None when there was no answer.
        self.status = status

    def __str__(self) -> str:
        hint = f" {self.hint}" if self.hint else ""
        request = f", request {self.request_id}" if self.request_id else ""
        return f"{self.message}{hint} [{self.code}{request}]"


class ClusterFailedError(RopewalkError):
    """The cluster has ended, or what was waited for can no longer come."""


class ClusterTimeoutError(RopewalkError, TimeoutError):
    """What was waited for did not come in time."""


class JobTimeoutError(RopewalkError, TimeoutError):
    """The job goes on, but was not over in time."""
