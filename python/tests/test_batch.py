"""`ropewalk.batch` with a stand-in for the API: submit, read, wait, cancel."""

from __future__ import annotations

import asyncio
import base64
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest
from stand_in import problem
from stand_in_jobs import JobsStandIn, a_job

import ropewalk
from ropewalk import batch

AWAY = problem(503, "UNAVAILABLE", "Not now.", retry_after=0.01)


def test_arguments_are_sent_as_given(jobs: JobsStandIn) -> None:
    created = batch.run(
        ["echo", "a b", "$HOME"],
        name="all",
        get_or_create=True,
        env={"A": "b"},
        secret_env={"S": "hush"},
        array="0-10:2",
        max_workers=-1,
        retries=2,
        job_timeout="1 hour",
        lease=timedelta(seconds=90),
        watchdog_timeout=1800,
        private_to_creator=True,
    )
    assert created == {"number": 1, "name": "all", "existing": False, "warnings": []}
    assert jobs.sent("/v1/jobs") == [
        {
            "command": ["echo", "a b", "$HOME"],
            "name": "all",
            "getOrCreate": True,
            "env": {"A": "b"},
            "secretEnv": {"S": "hush"},
            "array": "0-10:2",
            "maxWorkers": -1,
            "retries": 2,
            "jobTimeout": 3600,
            "lease": 90,
            "watchdogTimeout": 1800,
            "privateToCreator": True,
        }
    ]


def test_options_that_are_not_given_are_not_sent(jobs: JobsStandIn) -> None:
    batch.run("sh -c 'exit 3'")
    batch.run("true", ntasks=3)
    assert jobs.sent("/v1/jobs") == [{"command": ["sh", "-c", "exit 3"]}, {"command": ["true"], "ntasks": 3}]


def test_options_of_coiled_are_sent_by_their_command_line_names(jobs: JobsStandIn) -> None:
    jobs.warnings = ["tag has no effect here."]
    options: Any = {"tag": "a=b", "map_over_values": ["x", "y"], "run_on_host": True, "pipe_to_files": False, "sync": None}
    with pytest.warns(UserWarning, match="tag has no effect") as caught:
        batch.run("true", **options)
    assert caught[0].filename == __file__
    sent = {"tag": "a=b", "map-over-values": "x,y", "run-on-host": ""}
    assert jobs.sent("/v1/jobs")[0]["options"] == sent


def test_task_on_scheduler_false_is_sent_as_no_task_on_scheduler(jobs: JobsStandIn) -> None:
    for value in (False, True, None):
        batch.run("true", task_on_scheduler=value)
    sent = [request.get("options") for request in jobs.sent("/v1/jobs")]
    assert sent == [{"no-task-on-scheduler": ""}, {"task-on-scheduler": ""}, None]


def test_a_lost_answer_creates_no_second_job(jobs: JobsStandIn) -> None:
    jobs.faults.append(("POST", "/v1/jobs", 0, None, {}))
    jobs.faults.append(("POST", "/v1/jobs", *AWAY))
    assert batch.run("true")["number"] == 1
    keys = {headers["idempotency-key"] for *_, headers in jobs.requests}
    assert len(jobs.requests) == 3 and len(keys) == 1 and len(jobs.jobs) == 1
    assert batch.run("true")["number"] == 2
    first, second = (batch.run("true", idempotency_key="mine") for _ in range(2))
    assert (first["existing"], second["existing"], second["number"]) == (False, True, first["number"])


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"command": " "}, "command is empty"),
        ({"job_timeout": "soon"}, "job_timeout is 'soon'"),
        ({"lease": 0}, "lease is 0"),
        ({"watchdog_timeout": -1}, "watchdog_timeout is -1"),
        ({"env": {"A=B": "x"}}, "not a valid name of an environment variable"),
        ({"secret_env": {"S": 3}}, "value of environment variable S"),
        ({"upload": "no-such-file"}, "upload: no-such-file is neither"),
    ],
)
def test_invalid_arguments_are_refused_before_a_request(jobs: JobsStandIn, arguments: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        batch.run(**{"command": "true", **arguments})
    assert jobs.requests == []


def test_an_error_of_the_api_names_the_field(jobs: JobsStandIn) -> None:
    jobs.faults.append(("POST", "/v1/jobs", *problem(422, "VALIDATION", "ntasks: too many.", field="ntasks")))
    with pytest.raises(ropewalk.RopewalkError, match="too many") as caught:
        batch.run("true", ntasks=10**9)
    assert caught.value.field == "ntasks" and len(jobs.requests) == 1


def test_files_that_the_command_names_are_sent(jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("sub").mkdir()
    Path("sub/a.sh").write_text("# ROPEWALK ntasks 3\necho $0\n")
    Path("sub/a.sh").chmod(0o755)
    Path("data").mkdir()
    Path("data/deep").mkdir()
    Path("data/deep/b.txt").write_bytes(b"\0\1")
    Path("data/round").symlink_to(tmp_path / "data")
    batch.run("sh ./sub/a.sh sub/a.sh --fast", upload=["data"])
    content = base64.b64encode(b"# ROPEWALK ntasks 3\necho $0\n").decode()
    assert jobs.sent("/v1/jobs")[0]["files"] == [
        {"path": "sub/a.sh", "content": content, "executable": True},
        {"path": "deep/b.txt", "content": "AAE=", "executable": False},
    ]


@pytest.mark.parametrize("word", ["{home}/jobs/script.sh", "~/jobs/script.sh", "../jobs/script.sh"])
def test_scripts_outside_the_current_directory_are_sent_by_their_name(
    jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    (tmp_path / "here").mkdir()
    (tmp_path / "jobs").mkdir()
    (tmp_path / "jobs/script.sh").write_text("# COILED ntasks 3\n")
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    batch.run(["bash", word.format(home=tmp_path), "--fast"])
    [sent] = jobs.sent("/v1/jobs")
    assert sent["command"] == ["bash", "script.sh", "--fast"]
    assert [(file["path"], base64.b64decode(file["content"])) for file in sent["files"]] == [
        ("script.sh", b"# COILED ntasks 3\n")
    ]


def test_programs_and_data_that_an_absolute_path_names_are_not_sent(jobs: JobsStandIn, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/tool").write_text("#!/bin/sh\n")
    (tmp_path / "data.csv").write_text("a,b\n")
    (tmp_path / "binary.py").write_bytes(b"#!\0")
    words = [str(tmp_path / name) for name in ("bin/tool", "data.csv", "binary.py")]
    batch.run(words)
    assert jobs.sent("/v1/jobs") == [{"command": words}]


def test_files_that_are_not_sent_are_reported(jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    Path("../out.txt").write_text("x")
    Path("big").write_bytes(b"x" * (1024 * 1024 + 1))
    with pytest.warns(UserWarning) as caught:
        batch.run(["cat", "../out.txt", "big", str(work / "big"), "/bin/sh", "/etc/hostname"])
    messages = [str(one.message).partition(" is not sent: it ")[2] for one in caught]
    absolute = "is an absolute path and no script; write big to send it"
    outside = "is outside the current directory; use upload to send it"
    assert messages == [outside, "has 1.0 MiB, more than 1 MiB; use upload to send it", absolute]
    assert "files" not in jobs.sent("/v1/jobs")[0]
    Path("huge").write_bytes(b"x" * (10 * 1024 * 1024))
    with pytest.raises(ValueError, match="11.0 MiB together, more than 10 MiB; the largest: huge"):
        batch.run("true", upload=["huge", "big"])
    Path("sub").mkdir()
    Path("sub/big").write_text("another")
    with pytest.raises(ValueError, match="would both become big in the working directory"):
        batch.run("true", upload=["big", "sub"])


def test_jobs_are_found_by_number_and_by_name(jobs: JobsStandIn) -> None:
    jobs.jobs = {number: a_job(number) for number in (1, 2, 3)}
    assert batch.status(2)["name"] == batch.status("2")["name"] == "job-2"
    assert batch.status("job-3")["number"] == 3
    with pytest.raises(ropewalk.RopewalkError, match="No open job has the name nightly") as caught:
        batch.status("nightly")
    assert caught.value.code == "NOT_FOUND"
    with pytest.raises(ropewalk.RopewalkError, match="There is no job 9"):
        batch.cancel(9)
    with pytest.raises(TypeError, match="job is True"):
        batch.status(True)


def test_lists_span_pages(jobs: JobsStandIn) -> None:
    jobs.jobs = {number: a_job(number) for number in range(1, 6)}
    assert [job["number"] for job in batch.list_jobs()] == [5, 4, 3, 2, 1]
    assert [job["number"] for job in batch.list(limit=3)] == [5, 4, 3]
    assert jobs.asked("/v1/jobs")[-2:] == [{"limit": ["3"]}, {"limit": ["1"], "after": ["2"]}]
    with pytest.raises(ValueError, match="limit is 0"):
        batch.list_jobs(0)
    jobs.tasks = [{"id": 4, "state": "done"}]
    assert batch.tasks(5) == jobs.tasks


def test_lists_are_filtered_by_the_server(jobs: JobsStandIn) -> None:
    since = datetime(2026, 11, 22, 10, tzinfo=timezone.utc)
    assert batch.list_jobs(5, status=["done", "error"], user="ada", since=since, until="2h", search="50%") == []
    sent = {"status": ["done,error"], "user": ["ada"], "since": ["2026-11-22T10:00:00.000Z"], "until": ["2h"]}
    assert jobs.asked("/v1/jobs")[-1] == {**sent, "q": ["50%"], "limit": ["5"]}


def test_waiting_ends_with_every_outcome_of_the_job(jobs: JobsStandIn) -> None:
    jobs.jobs = {1: a_job(1), 2: a_job(2, status="error"), 3: a_job(3, status="cancelled")}
    assert batch.wait("job-1", poll="10 ms")["status"] == "done"
    assert [batch.wait(number)["status"] for number in (2, 3)] == ["error", "cancelled"]


def test_waiting_continues_through_an_outage(jobs: JobsStandIn, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    jobs.jobs = {1: a_job(1)}
    monkeypatch.setattr("ropewalk.batch.calls.RETRY_FOR_S", 0.0)
    jobs.faults += [("GET", "/1", 200, a_job(1), {}), ("GET", "/1", *AWAY), ("GET", "/1", *AWAY)]
    assert batch.wait(1, poll=0.01)["status"] == "done"
    assert caplog.text.count("Still waiting for job 1: Not now.") == 2
    jobs.faults += [("GET", "/1", 200, a_job(1), {}), ("GET", "/1", *problem(403, "FORBIDDEN", "No longer yours."))]
    with pytest.raises(ropewalk.RopewalkError, match="No longer yours"):
        batch.wait(1, poll=0.01)


def test_a_timeout_does_not_cancel_the_job(jobs: JobsStandIn) -> None:
    jobs.jobs, jobs.reads_before_done = {1: a_job(1)}, 10_000
    with pytest.raises(ropewalk.JobTimeoutError, match="Job 1 is running: 0 of 2 tasks are done. The job continues") as caught:
        batch.wait(1, timeout="200 ms", poll="20 ms")
    assert isinstance(caught.value, TimeoutError)
    assert jobs.sent("/cancel") == []
    batch.cancel("job-1")
    assert len(jobs.sent("/1/cancel")) == 1


def test_it_works_where_an_event_loop_runs(jobs: JobsStandIn) -> None:
    async def run() -> str:
        return batch.wait(batch.run("true")["number"], poll=0.01)["status"]

    assert asyncio.run(run()) == "done"
