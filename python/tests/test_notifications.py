import pytest

import ropewalk
from ropewalk import notifications


def test_the_newest_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, str]] = []

    def request(_self: object, method: str, path: str) -> dict[str, object]:
        asked.append((method, path))
        return {"items": [{"id": 1, "type": "job.failed", "text": "Job 1 has failed"}], "next": None}

    monkeypatch.setattr(notifications.ClientApi, "request", request)
    found = ropewalk.get_notifications(limit=5, api_url="http://127.0.0.1:1", token="rw_default_a-b")
    assert [each["type"] for each in found] == ["job.failed"]
    assert asked == [("GET", "/v1/notifications?limit=5")]
