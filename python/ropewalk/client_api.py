"""Requests to the API, for callers in an event loop (`get`, `post`) and for those that block (`ask`, `stream`). Every request
this package makes may be repeated: it says what should be, or carries a key that makes a repetition the same request. So all
are tried again when the server is away for a while."""

from __future__ import annotations

import asyncio
import http.client
import json
import math
import random
import ssl
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from ropewalk.config import Config
from ropewalk.errors import ClusterTimeoutError, RopewalkError

RETRY_FOR_S = 60.0
REQUEST_TIMEOUT_S = 20.0
_LAST_TIMEOUT_S = 1.0
#: The server sends an empty line every 30 seconds when there is nothing to say.
STREAM_TIMEOUT_S = 90.0
_PASSING = frozenset({"TOO_BUSY", "UNAVAILABLE", "NOT_YET", "TIMEOUT", "UNREACHABLE"})
_MAX_ERROR_BYTES = 64 * 1024
_PIECE_BYTES = 64 * 1024


class ClientApi:
    def __init__(self, config: Config, *, retry_for_s: float = RETRY_FOR_S) -> None:
        self.url = config.api_url
        self._token = config.token
        self._retry_for_s = retry_for_s
        is_local = urlsplit(self.url).hostname in ("127.0.0.1", "localhost", "::1")
        proxies = ProxyHandler({}) if is_local else ProxyHandler()
        self._opener = build_opener(proxies, _NoRedirects(), HTTPSHandler(context=ssl.create_default_context()))

    async def get(self, path: str, *, until: float = math.inf) -> Any:
        """Raises ClusterTimeoutError when there is no time left before `until`, of time.monotonic(), to try again."""
        return _json(await self._patiently("GET", path, until=until))

    async def lines(self, path: str) -> list[Any]:
        """Of application/x-ndjson."""
        text = (await self._patiently("GET", path)).decode()
        return [json.loads(line) for line in text.splitlines() if line.strip()]

    async def post(
        self, path: str, body: Any = None, *, idempotency_key: str | None = None, until: float = math.inf
    ) -> Any:
        """`until`: see `get`."""
        return _json(await self._patiently("POST", path, body, idempotency_key, until))

    def post_once(self, path: str, body: Any = None, *, timeout_s: float = REQUEST_TIMEOUT_S) -> Any:
        """Blocks, and does not try again: for the end of a process, when no event loop is left."""
        try:
            return _json(self._once("POST", path, body, None, timeout_s))
        except _Refusal as refusal:
            raise refusal.error from None

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        idempotency_key: str | None = None,
        retry_for_s: float | None = None,
    ) -> Any:
        """Blocks; needs no event loop, and may be called where one runs."""
        patience = _Patience(self._retry_for_s if retry_for_s is None else retry_for_s)
        while True:
            try:
                return _json(self._once(method, path, body, idempotency_key, REQUEST_TIMEOUT_S))
            except _Refusal as refusal:
                time.sleep(patience.pause_after(refusal))

    def stream(self, path: str, *, on_open: Callable[[], None] = lambda: None) -> Iterator[Any]:
        """Of application/x-ndjson, as lines come; blocks. Raises UNREACHABLE when it breaks off, which is not tried again.
        `on_open` is called when the API has answered, however long the first line takes."""
        patience = _Patience(self._retry_for_s)
        while True:
            try:
                response = self._open("GET", path, None, None, STREAM_TIMEOUT_S)
                break
            except _Refusal as refusal:
                time.sleep(patience.pause_after(refusal))
        with response:
            on_open()
            yield from self._lines_of(response)

    async def _patiently(
        self,
        method: str,
        path: str,
        body: Any = None,
        idempotency_key: str | None = None,
        until: float = math.inf,
    ) -> bytes:
        patience = _Patience(self._retry_for_s, until)
        while True:
            # Also a last try gets time enough for an answer.
            timeout_s = min(REQUEST_TIMEOUT_S, max(_LAST_TIMEOUT_S, until - time.monotonic()))
            try:
                return await asyncio.to_thread(self._once, method, path, body, idempotency_key, timeout_s)
            except _Refusal as refusal:
                await asyncio.sleep(patience.pause_after(refusal))

    def _once(self, method: str, path: str, body: Any, idempotency_key: str | None, timeout_s: float) -> bytes:
        with self._open(method, path, body, idempotency_key, timeout_s) as response:
            try:
                answer: bytes = response.read()
                return answer
            except (http.client.HTTPException, OSError) as error:
                raise self._unreachable(error) from None

    def _open(self, method: str, path: str, body: Any, idempotency_key: str | None, timeout_s: float) -> Any:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json, application/x-ndjson"}
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        elif method == "POST":
            data = b""
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        request = Request(self.url + path, data=data, headers=headers, method=method)
        try:
            return self._opener.open(request, timeout=timeout_s)
        except HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except (URLError, http.client.HTTPException, OSError) as error:
            raise self._unreachable(error) from None

    def _lines_of(self, response: Any) -> Iterator[Any]:
        try:
            for line in _whole_lines(response):
                if not line.endswith(b"\n"):
                    raise http.client.IncompleteRead(line)
                if line.strip():
                    value = json.loads(line)
                    # The API's last word when it cannot go on.
                    if isinstance(value, dict) and "error" in value and "status" in value:
                        raise _told(value["error"], int(value["status"]))
                    yield value
            # Known when the length was told before; an answer in chunks says itself that it was cut.
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        except (http.client.HTTPException, OSError) as error:
            raise self._unreachable(error).error from None
        except (ValueError, KeyError, TypeError):
            raise RopewalkError("A line of the answer is not JSON.", code="NOT_ROPEWALK") from None

    def _refusal(self, answer: HTTPError) -> _Refusal:
        try:
            error = _told(json.loads(answer.read(_MAX_ERROR_BYTES))["error"], answer.code)
        except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
            # Something between here and the API: a proxy, or another server altogether.
            code = "UNAVAILABLE" if answer.code in (502, 503, 504) else "NOT_ROPEWALK"
            message = f"{self.url} answered with HTTP status {answer.code}, not as Ropewalk does."
            error = RopewalkError(message, code=code, status=answer.code, hint="Check the URL of the API.")
        return _Refusal(error, _seconds(answer.headers.get("Retry-After")))

    def _unreachable(self, error: Exception) -> _Refusal:
        why = getattr(error, "reason", None) or error
        message = f"Ropewalk's API at {self.url} does not answer: {why}."
        hint = "Check that it runs (`ropewalk dev` starts one here) and that the URL is right."
        # A certificate that is not trusted now is not trusted in a second either.
        code = "UNTRUSTED" if isinstance(why, ssl.SSLCertVerificationError) else "UNREACHABLE"
        return _Refusal(RopewalkError(message, code=code, hint=hint), 0.0)


def _whole_lines(response: Any) -> Iterator[bytes]:
    """http.client's own lines end as if all were said when the connection is lost between two chunks."""
    rest = b""
    while piece := response.read1(_PIECE_BYTES):
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


def _told(problem: Any, status: int) -> RopewalkError:
    return RopewalkError(
        str(problem["message"]),
        code=str(problem["code"]),
        field=problem.get("field"),
        hint=problem.get("hint"),
        request_id=problem.get("requestId"),
        status=status,
    )


def is_passing(error: RopewalkError) -> bool:
    """The same request may well succeed a little later."""
    return error.code in _PASSING


class _Refusal(Exception):
    def __init__(self, error: RopewalkError, retry_after_s: float) -> None:
        super().__init__(error.code)
        self.error = error
        self.retry_after_s = retry_after_s


class _Patience:
    """With a server that is away for a moment."""

    def __init__(self, retry_for_s: float, until: float = math.inf) -> None:
        self._deadline = time.monotonic() + retry_for_s
        self._until = until
        self._pause = 0.2

    def pause_after(self, refusal: _Refusal) -> float:
        """Until the next try, in seconds; raises what the refusal was about when there is to be none."""
        # Half of it to all of it: many clients of one server do not come back at the same moment.
        wait = max(self._pause, refusal.retry_after_s) * random.uniform(0.5, 1) + refusal.retry_after_s / 2
        error, next_try = refusal.error, time.monotonic() + wait
        if not is_passing(error) or next_try > self._deadline:
            raise error from None
        if next_try > self._until:
            message = f"There is no time left to try again: {error.message}"
            raise ClusterTimeoutError(message, code="TIMEOUT", hint=error.hint, request_id=error.request_id) from error
        self._pause = min(5.0, self._pause * 2)
        return wait


class _NoRedirects(HTTPRedirectHandler):
    """urllib would send the token on to wherever it is sent."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _json(answer: bytes) -> Any:
    return json.loads(answer) if answer else None


def _seconds(header: str | None) -> float:
    try:
        return min(30.0, max(0.0, float(header or 0)))
    except ValueError:
        return 0.0
