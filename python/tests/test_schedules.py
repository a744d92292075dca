from typing import Any

import pytest

from ropewalk import batch
from ropewalk.cli.main import main
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


def test_the_command_lists_shows_and_acts(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asked: Asked) -> None:
    at = "2026-01-01T03:00:00.000Z"
    one = {"name": "nightly", "cron": "0 3 * * *", "timezone": "UTC", "state": "active", "reason": None, "user": "ada", "lastJob": 7}
    nightly = {**one, "command": "true", "nextRuns": [at], "runs": [{"at": at, "state": "skipped", "job": None, "text": "Job 6 runs."}]}
    asked.clear()

    def request(_: object, method: str, path: str, body: object = None) -> dict[str, Any]:
        asked.append((method, path, body))
        return {"items": [nightly]} if path.endswith("schedules") else {**nightly, "acceptedForLater": method == "DELETE"}

    def run(*words: str) -> tuple[int, str, str]:
        code = main(("batch", "schedule", *words))
        said = capsys.readouterr()
        return code, said.out, said.err

    monkeypatch.setattr(ClientApi, "request", request)
    code, listed, _ = run("list")
    assert code == 0 and "nightly" in listed and "0 3 * * *" in listed
    code, shown, _ = run("show", "nightly")
    assert code == 0 and shown.startswith("nightly: active\n0 3 * * * (UTC), true\nNext: ") and "Job 6 runs." in shown
    for verb, done in [("pause", "is paused"), ("resume", "goes on"), ("trigger", "runs now"), ("delete", "is deleted")]:
        code, out, err = run(verb, "nightly")
        assert (code, out, "Temporal is unavailable" in err) == (0, f"Schedule nightly {done}\n", verb == "delete")
    assert asked[-2:] == [("POST", "/v1/schedules/nightly/trigger", None), ("DELETE", "/v1/schedules/nightly", None)]
    code, _, err = run("--cron", "@daily", "nightly", "--", "--ntasks", "3", "true")
    assert code == 2 and "ropewalk.batch.create_schedule()" in err
