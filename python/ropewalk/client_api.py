"""Requests to the API, for callers in an event loop (`get`, `post`) and for blocking callers (`request`, `stream`).
Every request of this package is idempotent or has an Idempotency-Key, so all are retried while the server is
unavailable."""

from __future__ import annotations

import asyncio
import http.client
import json
import logging
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
from ropewalk.retry_pause import retry_pause

logger = logging.getLogger("ropewalk")

RETRY_FOR_S = 60.0
_FIRST_PAUSE_S = 0.3
_MAX_PAUSE_S = 5.0
REQUEST_TIMEOUT_S = 20.0
_LAST_TIMEOUT_S = 1.0
_SLOWEST_BYTES_PER_S = 100_000
#: The server sends an empty line every 30 seconds when there is no other line.
STREAM_TIMEOUT_S = 90.0
_TEMPORARY = frozenset({"TOO_BUSY", "UNAVAILABLE", "NOT_YET", "TIMEOUT", "UNREACHABLE"})
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
        """Raises ClusterTimeoutError when `until` (time.monotonic) does not allow another attempt."""
        return _json(await self._with_retry("GET", path, until=until))

    async def lines(self, path: str) -> list[Any]:
        """Reads application/x-ndjson."""
        text = (await self._with_retry("GET", path)).decode()
        return [_value_of(line) for line in text.splitlines() if line.strip()]

    async def post(
        self, path: str, body: Any = None, *, idempotency_key: str | None = None, until: float = math.inf
    ) -> Any:
        """`until`: see `get`."""
        return _json(await self._with_retry("POST", path, body, idempotency_key, until))

    def post_once(self, path: str, body: Any = None, *, timeout_s: float = REQUEST_TIMEOUT_S) -> Any:
        """Blocks, and does not retry: for the exit of a process, when no event loop is left."""
        try:
            return _json(self._once("POST", path, body, None, timeout_s))
        except _Refusal as refusal:
            raise refusal.error from None

    def request(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        idempotency_key: str | None = None,
        retry_for_s: float | None = None,
        until: float = math.inf,
    ) -> Any:
        """Blocks; needs no event loop, and can be called in a thread where one runs. `until`: see `get`."""
        retry = _Retry(self._retry_for_s if retry_for_s is None else retry_for_s, until)
        while True:
            try:
                return _json(self._once(method, path, body, idempotency_key, REQUEST_TIMEOUT_S))
            except _Refusal as refusal:
                time.sleep(retry.pause_after(refusal))

    def upload(self, path: str, content: bytes, *, until: float = math.inf) -> None:
        """Puts a file; blocks. The time for one attempt grows with its size. `until`: see `get`."""
        retry = _Retry(self._retry_for_s, until)
        timeout_s = REQUEST_TIMEOUT_S + len(content) / _SLOWEST_BYTES_PER_S
        while True:
            try:
                self._once("PUT", path, content, None, timeout_s)
                return
            except _Refusal as refusal:
                time.sleep(retry.pause_after(refusal))

    def file_place(self, sha256: str) -> tuple[str, dict[str, str]]:
        """URL and headers for the content of a file that passes through the API."""
        return f"{self.url}/v1/file-blobs/{sha256}", {"Authorization": f"Bearer {self._token}"}

    def stream(self, path: str, *, on_open: Callable[[], None] = lambda: None) -> Iterator[Any]:
        """Yields lines of application/x-ndjson as they arrive; blocks. Raises UNREACHABLE, without a retry, when the connection
        is lost. `on_open` is called when the API has answered, before the first line."""
        retry = _Retry(self._retry_for_s)
        while True:
            try:
                response = self._open("GET", path, None, None, STREAM_TIMEOUT_S)
                break
            except _Refusal as refusal:
                time.sleep(retry.pause_after(refusal))
        with response:
            on_open()
            yield from self._lines_of(response)

    async def _with_retry(
        self,
        method: str,
        path: str,
        body: Any = None,
        idempotency_key: str | None = None,
        until: float = math.inf,
    ) -> bytes:
        retry = _Retry(self._retry_for_s, until)
        while True:
            # Gives the last attempt enough time for an answer.
            timeout_s = min(REQUEST_TIMEOUT_S, max(_LAST_TIMEOUT_S, until - time.monotonic()))
            try:
                return await asyncio.to_thread(self._once, method, path, body, idempotency_key, timeout_s)
            except _Refusal as refusal:
                await asyncio.sleep(retry.pause_after(refusal))

    def _once(self, method: str, path: str, body: Any, idempotency_key: str | None, timeout_s: float) -> bytes:
        with self._open(method, path, body, idempotency_key, timeout_s) as response:
            try:
                answer: bytes = response.read()
                return answer
            except (http.client.HTTPException, OSError) as error:
                raise self._unreachable(error) from None

    def _open(self, method: str, path: str, body: Any, idempotency_key: str | None, timeout_s: float) -> Any:
        headers = {"Accept": "application/json, application/x-ndjson"}
        # Empty while a program signs in.
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        data = None
        if isinstance(body, bytes):
            data = body
            headers["Content-Type"] = "application/octet-stream"
        elif body is not None:
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
                    yield _value_of(line)
            # With a Content-Length; a chunked answer that is incomplete raises by itself.
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        except (http.client.HTTPException, OSError) as error:
            raise self._unreachable(error).error from None
        except (ValueError, KeyError, TypeError):
            raise RopewalkError("A line of the answer is not JSON.", code="NOT_ROPEWALK") from None

    def _refusal(self, answer: HTTPError) -> _Refusal:
        try:
            error = _error_of(json.loads(answer.read(_MAX_ERROR_BYTES))["error"], answer.code)
        except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
            # A proxy, or another server, sent the answer.
            code = "UNAVAILABLE" if answer.code in (502, 503, 504) else "NOT_ROPEWALK"
            message = f"{self.url} answered with HTTP status {answer.code} and no error of Ropewalk."
            error = RopewalkError(message, code=code, status=answer.code, hint="Check the URL of the API.")
        return _Refusal(error, retry_after_of(answer.headers.get("Retry-After")))

    def _unreachable(self, error: Exception) -> _Refusal:
        why = getattr(error, "reason", None) or error
        message = f"Ropewalk's API at {self.url} does not answer: {why}."
        hint = "Check the URL, and that the API is running; `ropewalk dev` starts one on this machine."
        # A retry does not help with an untrusted certificate.
        code = "UNTRUSTED" if isinstance(why, ssl.SSLCertVerificationError) else "UNREACHABLE"
        return _Refusal(RopewalkError(message, code=code, hint=hint), 0.0)


def _whole_lines(response: Any) -> Iterator[bytes]:
    """Complete lines. http.client's own lines end without an error when the connection is lost between two chunks."""
    rest = b""
    while piece := response.read1(_PIECE_BYTES):
        *lines, rest = (rest + piece).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest


def _value_of(line: str | bytes) -> Any:
    """Raises RopewalkError for the error that ends an incomplete answer of the API."""
    value = json.loads(line)
    if isinstance(value, dict) and "error" in value and "status" in value:
        raise _error_of(value["error"], int(value["status"]))
    return value


def _error_of(problem: Any, status: int) -> RopewalkError:
    return RopewalkError(
        str(problem["message"]),
        code=str(problem["code"]),
        field=problem.get("field"),
        hint=problem.get("hint"),
        request_id=problem.get("requestId"),
        status=status,
    )


def is_temporary(error: RopewalkError) -> bool:
    """Whether a repetition of the request can succeed."""
    return error.code in _TEMPORARY


class _Refusal(Exception):
    def __init__(self, error: RopewalkError, retry_after_s: float) -> None:
        super().__init__(error.code)
        self.error = error
        self.retry_after_s = retry_after_s


class _Retry:
    """Growing pauses between attempts."""

    def __init__(self, retry_for_s: float, until: float = math.inf) -> None:
        self._deadline = time.monotonic() + retry_for_s
        self._until = until
        self._tries = 0

    def pause_after(self, refusal: _Refusal) -> float:
        """Seconds until the next attempt. Raises the refusal's error when there is none."""
        self._tries += 1
        wait = retry_pause(
            self._tries, refusal.retry_after_s, first_s=_FIRST_PAUSE_S, max_s=_MAX_PAUSE_S, random=random.random()
        )
        error, next_try = refusal.error, time.monotonic() + wait
        if not is_temporary(error) or next_try > self._deadline:
            raise error from None
        if next_try > self._until:
            message = f"The timeout does not allow another attempt: {error.message}"
            raise ClusterTimeoutError(message, code="TIMEOUT", hint=error.hint, request_id=error.request_id) from error
        logger.info("Retrying: %s", error.message)
        return wait


class _NoRedirects(HTTPRedirectHandler):
    """urllib would send the token to the target of a redirect."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _json(answer: bytes) -> Any:
    return json.loads(answer) if answer else None


def retry_after_of(header: str | None) -> float:
    """Seconds of a header `Retry-After`, at most 30."""
    try:
        return min(30.0, max(0.0, float(header or 0)))
    except ValueError:
        return 0.0
