"""Keeps the AWS credentials of this machine on a cluster: an STS session goes directly from this process to the
scheduler and its workers over Dask's TLS connection, and is renewed at half of its lifetime. Ropewalk's server
never gets it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime

from ropewalk.aws_session import VARIABLES, AwsSession, AwsSessions, check_duration
from ropewalk.errors import RopewalkError
from ropewalk.log_records import logger

Send = Callable[[Mapping[str, "str | None"]], Awaitable[None]]

#: Interval of reads for credentials without a known expiry, and the minimum for others.
_UNKNOWN_EXPIRY_S = 300.0
_MIN_PAUSE_S = 60.0
#: Uses the wall clock, because the event loop's clock stops while a laptop sleeps.
_CHECK_EVERY_S = 15.0
#: The start of a cluster waits this long for credentials; later ones are sent when they are found.
_FIRST_WAIT_S = 20.0
#: Failures of STS, and of the connection to the scheduler.
_FAILURES = (RopewalkError, OSError, asyncio.TimeoutError)


class ForwardedCredentials:
    def __init__(self, duration_s: int | None, send: Send, say: Callable[[str], None]) -> None:
        self._sessions = AwsSessions(duration_s)
        self._send = send
        self._say = say
        self._reading: asyncio.Task[AwsSession | None] | None = None
        self._sent: AwsSession | None = None
        self._keeping: asyncio.Task[None] | None = None

    def read_ahead(self) -> None:
        """Reads the credentials while the cluster starts."""
        self._reading = asyncio.ensure_future(asyncio.to_thread(self._sessions.read))

    async def start(self) -> None:
        """Sends them, and keeps them fresh until `stop`. Without usable credentials the cluster has none."""
        begun = asyncio.Event()
        self._keeping = asyncio.ensure_future(self._run(begun))
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(begun.wait(), _FIRST_WAIT_S)

    async def send_now(self, keeps: bool = True) -> None:
        """Raises RopewalkError AWS_CREDENTIALS, also when this machine has none."""
        session = await asyncio.to_thread(self._sessions.read)
        if session is None:
            hint = "Install boto3 and sign in to AWS on this machine."
            raise RopewalkError("This machine has no AWS credentials to send.", code="AWS_CREDENTIALS", hint=hint)
        await self._send(session.variables())
        self._sent = session
        if keeps and (self._keeping is None or self._keeping.done()):
            self._keeping = asyncio.ensure_future(self._keep())

    def stop(self) -> None:
        for task in (self._reading, self._keeping):
            if task is not None:
                task.cancel()

    async def _run(self, begun: asyncio.Event) -> None:
        try:
            await self._begin()
        except _FAILURES as error:
            self._say(f"Note: no AWS credentials were sent to the cluster: {error}")
        finally:
            begun.set()
        if self._sent is not None:
            await self._keep()

    async def _begin(self) -> None:
        session = await (self._reading or asyncio.to_thread(self._sessions.read))
        if session is not None:
            await self._send(session.variables())
            self._sent = session
            until = "" if session.expires_at is None else f", until {session.expires_at:%Y-%m-%d %H:%M} UTC, then new ones"
            self._say(f"The cluster has AWS credentials of this machine{until}")

    async def _keep(self) -> None:
        due, is_failing = refresh_at(self._sent, time.time()), False
        while True:
            while (left := due - time.time()) > 0:
                await asyncio.sleep(min(_CHECK_EVERY_S, left))
            try:
                await self._refresh()
                due, is_failing = refresh_at(self._sent, time.time()), False
            except _FAILURES as error:
                if not is_failing:
                    logger.warning("The cluster's AWS credentials were not refreshed; retrying: %s", error)
                due, is_failing = time.time() + _MIN_PAUSE_S, True

    async def _refresh(self) -> None:
        session = await asyncio.to_thread(self._sessions.read)
        if session is None:
            raise RopewalkError("This machine has no AWS credentials any more.", code="AWS_CREDENTIALS")
        if session != self._sent:
            await self._send(session.variables())
            self._sent = session


def refresh_at(session: AwsSession | None, now: float) -> float:
    """The time when half of the session's remaining lifetime has passed."""
    expires: datetime | None = None if session is None else session.expires_at
    if expires is None:
        return now + _UNKNOWN_EXPIRY_S
    return now + max(_MIN_PAUSE_S, (expires.timestamp() - now) / 2)


def is_own_choice(variables: Mapping[str, object]) -> bool:
    """Whether the user sets the cluster's AWS credentials in another way, which forwarded ones would replace."""
    return any(name in variables for name in VARIABLES[:3])


def wants_credentials(credentials: object, duration: object) -> tuple[bool, int | None]:
    """Reads the arguments `credentials` and `credentials_duration_seconds`; ValueError names the argument."""
    seconds = check_duration(duration, "credentials_duration_seconds")
    if credentials is None or credentials is False:
        return False, seconds
    if credentials == "local":
        return True, seconds
    raise ValueError(f'credentials is {credentials!r}: give "local" for the AWS credentials of this machine, or None')
