from typing import Any, cast

import pytest

import ropewalk
from ropewalk.client_api import ClientApi
from ropewalk.views import ClusterView
from ropewalk.waiting import progress

WHERE = {"api_url": "http://127.0.0.1:1", "token": "rw_default_a-b"}


def test_what_waits_is_listed_and_decided(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []

    def request(_self: object, *arguments: Any) -> dict[str, object]:
        asked.append(arguments)
        return {"items": [{"number": 12}], "next": None} if arguments[0] == "GET" else {"state": "approved"}

    monkeypatch.setattr(ClientApi, "request", request)
    assert [each["number"] for each in ropewalk.approvals(**WHERE)] == [12]
    assert ropewalk.approvals(all=True, **WHERE)
    assert ropewalk.approve(12, comment="for the paper", **WHERE)["state"] == "approved"
    ropewalk.reject(12, **WHERE)
    assert asked == [
        ("GET", "/v1/approvals?limit=1000&state=pending"),
        ("GET", "/v1/approvals?limit=1000"),
        ("POST", "/v1/approvals/12/approve", {"comment": "for the paper"}),
        ("POST", "/v1/approvals/12/reject", {}),
    ]


def test_a_waiting_cluster_says_what_it_waits_for() -> None:
    reason = {"code": "WAITING_FOR_APPROVAL", "text": "Waits for an admin."}
    view = cast(ClusterView, {"status": "waiting", "dask": None, "reason": reason, "instances": []})
    assert progress(view) == "Waits for an admin."
