"""Requests to the API. Every request this package makes may be repeated: it says what should be, or carries a key that
makes a repetition the same request. So all are tried again when the server is away for a while."""

from __future__ import annotations

import asyncio
import http.client
import json
import random
import ssl
import time
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from ropewalk.config import Config
from ropewalk.errors import RopewalkError

RETRY_FOR_S = 60.0
REQUEST_TIMEOUT_S = 20.0
_PASSING = frozenset({"TOO_BUSY", "UNAVAILABLE", "NOT_YET", "TIMEOUT", "UNREACHABLE"})
_MAX_ERROR_BYTES = 64 * 1024


class ClientApi:
    def __init__(self, config: Config, *, retry_for_s: float = RETRY_FOR_S) -> None:
        self.url = config.api_url
        self._token = config.token
        self._retry_for_s = retry_for_s
        is_local = urlsplit(self.url).hostname in ("127.0.0.1", "localhost", "::1")
        proxies = ProxyHandler({}) if is_local else ProxyHandler()
        self._opener = build_opener(proxies, _NoRedirects(), HTTPSHandler(context=ssl.create_default_context()))

    async def get(self, path: str) -> Any:
        return _json(await self._patiently("GET", path))

    async def lines(self, path: str) -> list[Any]:
        """Of application/x-ndjson."""
        text = (await self._patiently("GET", path)).decode()
        return [json.loads(line) for line in text.splitlines() if line.strip()]

    async def post(self, path: str, body: Any = None, *, idempotency_key: str | None = None) -> Any:
        return _json(await self._patiently("POST", path, body, idempotency_key))

    def post_once(self, path: str, body: Any = None, *, timeout_s: float = REQUEST_TIMEOUT_S) -> Any:
        """Blocks, and does not try again: for the end of a process, when no event loop is left."""
        return _json(self._once("POST", path, body, None, timeout_s))

    async def _patiently(
        self, method: str, path: str, body: Any = None, idempotency_key: str | None = None
    ) -> bytes:
        deadline = time.monotonic() + self._retry_for_s
        pause = 0.2
        while True:
            try:
                return await asyncio.to_thread(self._once, method, path, body, idempotency_key, REQUEST_TIMEOUT_S)
            except _Refusal as refusal:
                # Half of it to all of it: many clients of one server do not come back at the same moment.
                wait = max(pause, refusal.retry_after_s) * random.uniform(0.5, 1) + refusal.retry_after_s / 2
                if refusal.error.code not in _PASSING or time.monotonic() + wait > deadline:
                    raise refusal.error from None
                await asyncio.sleep(wait)
                pause = min(5.0, pause * 2)

    def _once(self, method: str, path: str, body: Any, idempotency_key: str | None, timeout_s: float) -> bytes:
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
            with self._opener.open(request, timeout=timeout_s) as response:
                answer: bytes = response.read()
                return answer
        except HTTPError as error:
            with error:
                raise self._refusal(error) from None
        except (URLError, http.client.HTTPException, OSError) as error:
            raise self._unreachable(error) from None

    def _refusal(self, answer: HTTPError) -> _Refusal:
        try:
            problem = json.loads(answer.read(_MAX_ERROR_BYTES))["error"]
            error = RopewalkError(
                str(problem["message"]),
                code=str(problem["code"]),
                field=problem.get("field"),
                hint=problem.get("hint"),
                request_id=problem.get("requestId"),
                status=answer.code,
            )
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


class _Refusal(Exception):
    def __init__(self, error: RopewalkError, retry_after_s: float) -> None:
        super().__init__(error.code)
        self.error = error
        self.retry_after_s = retry_after_s


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
