"""`ropewalk.batch` with a stand-in for the API: find, list, wait for and cancel jobs."""

from __future__ import annotations

import asyncio
from datetime import datetime, timezone
from typing import Any

import pytest
from stand_in import problem
from stand_in_jobs import JobsStandIn, a_job

import ropewalk
from ropewalk import batch

AWAY = problem(503, "UNAVAILABLE", "Not now.", retry_after=0.01)


def test_jobs_are_found_by_number_and_by_name(jobs: JobsStandIn) -> None:
    jobs.jobs = {number: a_job(number) for number in (1, 2, 3)}
    assert batch.get(2)["name"] == batch.get("2")["name"] == "job-2"
    assert batch.get("job-3")["number"] == 3
    with pytest.raises(ropewalk.RopewalkError, match="No job has the name nightly") as caught:
        batch.get("nightly")
    assert caught.value.code == "NOT_FOUND"
    with pytest.raises(ropewalk.RopewalkError, match="There is no job 9"):
        batch.cancel(9)
    with pytest.raises(TypeError, match="job is True"):
        batch.get(True)


def test_lists_span_pages(jobs: JobsStandIn) -> None:
    jobs.jobs = {number: a_job(number) for number in range(1, 6)}
    assert [job["number"] for job in batch.list_jobs()] == [5, 4, 3, 2, 1]
    assert [job["number"] for job in batch.list(limit=3)] == [5, 4, 3]
    assert jobs.asked("/v1/jobs")[-2:] == [{"limit": ["3"]}, {"limit": ["1"], "after": ["2"]}]
    with pytest.raises(ValueError, match="limit is 0"):
        batch.list_jobs(limit=0)
    jobs.tasks = [{"id": 4, "state": "done"}]
    assert batch.tasks(5) == batch.status(5) == jobs.tasks
    batch.tasks(5, state="error")
    assert [query.get("state") for query in jobs.asked("/tasks")] == [None, None, ["error"]]
    assert batch.status() == batch.list_jobs()


def test_a_workspace_is_that_of_the_token(jobs: JobsStandIn) -> None:
    jobs.jobs = {1: a_job(1)}
    assert batch.list_jobs("default") == batch.list_jobs()
    for call in (batch.list_jobs, lambda name: batch.status(1, name), lambda name: batch.run("true", workspace=name), lambda name: batch.cancel(1, workspace=name)):
        with pytest.raises(ropewalk.RopewalkError, match="The token is of the workspace default, not of team-a"):
            call("team-a")
    assert jobs.sent("/v1/jobs") == jobs.sent("/cancel") == []


def test_lists_are_filtered_by_the_server(jobs: JobsStandIn) -> None:
    since = datetime(2026, 11, 22, 10, tzinfo=timezone.utc)
    assert batch.list_jobs(limit=5, status=["done", "error"], user="ada", since=since, until="2h", search="50%") == []
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
    batch.cancel(1, tasks=[3, 7])
    assert jobs.sent("/1/tasks/cancel") == [{"tasks": "3,7"}]


def test_it_works_where_an_event_loop_runs(jobs: JobsStandIn) -> None:
    async def run() -> str:
        return batch.wait(batch.run("true")["number"], poll=0.01)["status"]

    assert asyncio.run(run()) == "done"


def test_why_is_read_by_number_or_name(jobs: JobsStandIn) -> None:
    jobs.jobs = {1: a_job(1)}
    assert batch.why(1)["number"] == batch.why("job-1")["number"] == 1


def test_its_past_its_tasks_at_a_glance_and_its_cost_are_read(jobs: JobsStandIn) -> None:
    jobs.jobs = {1: a_job(1)}
    jobs.past = {"number": 1, "tasks": {"total": 2, "done": 1}}
    assert batch.at("job-1", datetime(2026, 11, 23, 13, 2, tzinfo=timezone.utc)) == jobs.past
    assert batch.at(1, "20 minutes") == jobs.past
    assert jobs.asked("/v1/jobs/1/at") == [{"time": ["2026-11-23T13:02:00.000Z"]}, {"time": ["20 minutes"]}]
    assert batch.task_states(1)["runs"] == [{"state": "done", "count": 1}]
    assert [point["dollars"] for point in batch.costs(1)] == [0.5]
