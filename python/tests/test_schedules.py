from typing import Any

import pytest

from ropewalk import batch
from ropewalk.client_api import ClientApi

Asked = list[tuple[str, str, Any]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    calls: Asked = []

    def request(_self: object, method: str, path: str, body: object = None) -> dict[str, object]:
        calls.append((method, path, body))
        return {"name": "nightly", "items": [{"name": "nightly"}]}

    monkeypatch.setattr(ClientApi, "request", request)
    monkeypatch.setenv("ROPEWALK_API_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("ROPEWALK_TOKEN", "rw_default_aaaaaaaaaaaa-b")
    return calls


def test_a_schedule_has_the_job_that_run_would_submit(asked: Asked) -> None:
    batch.create_schedule("nightly", "@daily", "sh -c 'exit 3'", overlap="queue", secret_env={"S": "hush"}, ntasks=2, memory="8 GiB")
    job = {"command": ["sh", "-c", "exit 3"], "secretEnv": {"S": "hush"}, "ntasks": 2, "memory": "8 GiB"}
    assert asked == [("POST", "/v1/schedules", {"name": "nightly", "cron": "@daily", "overlap": "queue", "job": job})]


def test_the_other_calls(asked: Asked) -> None:
    assert [each["name"] for each in batch.list_schedules()] == ["nightly"]
    batch.get_schedule("nightly")
    batch.pause_schedule("nightly")
    batch.resume_schedule("nightly")
    batch.trigger_schedule("nightly")
    batch.delete_schedule("nightly")
    assert [(method, path) for method, path, _ in asked] == [
        ("GET", "/v1/schedules"),
        ("GET", "/v1/schedules/nightly"),
        ("POST", "/v1/schedules/nightly/pause"),
        ("POST", "/v1/schedules/nightly/resume"),
        ("POST", "/v1/schedules/nightly/trigger"),
        ("DELETE", "/v1/schedules/nightly"),
    ]
