from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest
from stand_in import TOKEN, StandIn, problem

from ropewalk.client_api import ClientApi
from ropewalk.config import Config
from ropewalk.errors import RopewalkError


def client(api: StandIn, *, token: str = TOKEN, retry_for_s: float = 20.0) -> ClientApi:
    return ClientApi(Config(api.url, token), retry_for_s=retry_for_s)


BODY: dict[str, Any] = {"workers": 1, "getOrCreate": True}


def test_an_error_has_all_details_but_not_the_token(api: StandIn) -> None:
    more = {"field": "workers", "hint": "Ask for fewer."}
    api.faults.append(("POST", "/v1/clusters", *problem(422, "VALIDATION", "workers: too many.", **more)))
    with pytest.raises(RopewalkError) as caught:
        asyncio.run(client(api).post("/v1/clusters", BODY))
    error = caught.value
    assert (error.code, error.field, error.hint) == ("VALIDATION", "workers", "Ask for fewer.")
    assert (error.status, error.request_id) == (422, "req_test")
    assert str(error) == "workers: too many. Ask for fewer. [VALIDATION, request req_test]"
    assert len(api.requests) == 1
    with pytest.raises(RopewalkError) as caught:
        asyncio.run(client(api, token="wrong-secret").get("/v1/clusters/1"))
    assert caught.value.code == "UNAUTHENTICATED" and "wrong-secret" not in str(caught.value)


@pytest.mark.parametrize(
    "fault",
    [
        problem(503, "UNAVAILABLE", "Not now.", retry_after=0.01),
        problem(503, "NOT_YET", "Not yet."),
        problem(429, "TOO_BUSY", "Too many.", retry_after="soon"),
        (502, b"<html>proxy</html>", {}),
    ],
)
def test_temporary_errors_are_retried_with_the_same_key(api: StandIn, fault: Any) -> None:
    api.faults.append(("POST", "/v1/clusters", *fault))
    created = asyncio.run(client(api).post("/v1/clusters", BODY, idempotency_key="key-1"))
    assert created["number"] == 1
    assert [headers["idempotency-key"] for *_, headers in api.requests] == ["key-1", "key-1"]


def test_a_limit_is_not_a_temporary_error(api: StandIn) -> None:
    api.faults.append(("POST", "/v1/clusters", *problem(429, "LIMIT_EXCEEDED", "No more cores.", retry_after=0)))
    with pytest.raises(RopewalkError, match="No more cores"):
        asyncio.run(client(api).post("/v1/clusters", BODY))
    assert len(api.requests) == 1


def test_a_permanent_outage_raises_the_last_error(api: StandIn) -> None:
    api.faults += [("GET", "/1", *problem(503, "UNAVAILABLE", "Not now."))] * 50
    with pytest.raises(RopewalkError, match="Not now"):
        asyncio.run(client(api, retry_for_s=0.5).get("/v1/clusters/1"))
    assert len(api.requests) > 1


def test_an_unreachable_server_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(RopewalkError, match="does not answer") as caught:
            asyncio.run(ClientApi(Config(url, "secret-token"), retry_for_s=0.1).get("/v1/clusters/1"))
    assert caught.value.code == "UNREACHABLE" and url in str(caught.value) and "secret" not in str(caught.value)


def test_the_token_does_not_follow_a_redirect(api: StandIn) -> None:
    api.faults.append(("GET", "/1", 302, b"", {"Location": f"{api.url}/elsewhere"}))
    with pytest.raises(RopewalkError, match="HTTP status 302"):
        asyncio.run(client(api).get("/v1/clusters/1"))
    assert [path for _, path, *_ in api.requests] == ["/v1/clusters/1"]


def test_loopback_is_requested_without_a_proxy(api: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert asyncio.run(client(api).post("/v1/clusters", BODY))["number"] == 1
