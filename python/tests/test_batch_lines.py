"""Logs and events of jobs, followed across lost connections."""

from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import pytest
from stand_in import problem
from stand_in_jobs import JobsStandIn, a_job, a_line

import ropewalk
from ropewalk import batch


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.batch.follow.PAUSE_S", 0.01)


def text_of(lines: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def cut(text: bytes) -> tuple[int, bytes, dict[str, str]]:
    """An answer that is shorter than its Content-Length."""
    return 200, text, {"Content-Length": str(len(text) + 10), "Connection": "close"}


def cut_chunk(text: bytes) -> tuple[int, bytes, dict[str, str]]:
    chunk = f"{len(text) + 10:x}\r\n".encode() + text
    return 200, chunk, {"Transfer-Encoding": "chunked", "Connection": "close"}


def cut_between_chunks(text: bytes) -> tuple[int, bytes, dict[str, str]]:
    """Complete chunks without the end of the answer."""
    return 200, f"{len(text):x}\r\n".encode() + text + b"\r\n", {"Transfer-Encoding": "chunked", "Connection": "close"}


CUTS = [cut, cut_chunk, cut_between_chunks]


def test_output_of_tasks_can_be_selected(jobs: JobsStandIn) -> None:
    jobs.jobs = {1: a_job(1)}
    jobs.lines = [a_line("one"), a_line("two", task=1), a_line("three", task=None, stream="agent")]
    assert [line["text"] for line in batch.logs(1)] == ["one", "two"]
    assert [line["text"] for line in batch.logs(1, instances=True)] == ["one", "two", "three"]
    list(batch.logs(1, tasks=[0, 3], since=datetime(2026, 1, 1, 12, tzinfo=timezone.utc)))
    list(batch.logs("job-1", tasks="0-3,7", follow=True))
    assert jobs.asked("/logs") == [
        {"follow": ["false"]},
        {"follow": ["false"]},
        {"follow": ["false"], "tasks": ["0,3"], "since": ["2026-01-01T12:00:00.000Z"]},
        {"follow": ["true"], "tasks": ["0-3,7"]},
    ]


def test_an_invalid_argument_raises_in_the_call_not_at_the_first_line(jobs: JobsStandIn) -> None:
    with pytest.raises(ropewalk.RopewalkError, match="No job has the name nightly"):
        batch.logs("nightly")


@pytest.mark.parametrize("cutting", CUTS)
def test_a_followed_log_continues_after_a_lost_connection(jobs: JobsStandIn, cutting: Any, caplog: Any) -> None:
    jobs.jobs = {1: a_job(1)}
    # Two tasks whose lines arrive out of order, with equal times and equal texts: no line is omitted or
    # duplicated.
    first = [a_line("a", seconds=5), a_line("a", seconds=5), a_line("b", seconds=3, task=1)]
    jobs.lines = [*first, a_line("a", seconds=5), a_line("c", seconds=4, task=1), a_line("d", seconds=6)]
    half = text_of(first) + (b"" if cutting is cut_between_chunks else text_of([a_line("a", seconds=5)])[:20])
    jobs.faults += [("GET", "/logs?follow=true", *cutting(half))]
    texts = [line["text"] for line in batch.logs(1, follow=True)]
    assert texts == ["a", "a", "b", "a", "c", "d"]
    again = {"follow": ["true"], "since": ["2025-12-31T23:59:05.000Z"]}
    assert jobs.asked("/logs") == [{"follow": ["true"]}, again]
    assert "Retrying" in caplog.text


def test_a_followed_log_that_is_lost_before_its_first_line_is_requested_again(jobs: JobsStandIn) -> None:
    jobs.jobs = {1: a_job(1)}
    jobs.lines = [a_line("late")]
    # The API's keepalives without lines.
    jobs.faults += [("GET", "/logs?follow=true", *cut(b"")), ("GET", "/logs?follow=true", *cut_between_chunks(b"\n"))]
    assert [line["text"] for line in batch.logs(1, follow=True)] == ["late"]
    assert jobs.asked("/logs") == [{"follow": ["true"]}] * 3


@pytest.mark.parametrize("cutting", CUTS)
def test_a_log_that_is_not_followed_raises_when_the_connection_is_lost(jobs: JobsStandIn, cutting: Any) -> None:
    jobs.jobs = {1: a_job(1)}
    jobs.faults += [("GET", "/logs?follow=false", *cutting(text_of([a_line("one")])))]
    lines = batch.logs(1)
    assert next(lines)["text"] == "one"
    with pytest.raises(ropewalk.RopewalkError) as caught:
        next(lines)
    assert caught.value.code == "UNREACHABLE"


def test_the_last_line_of_an_incomplete_answer_is_its_error(jobs: JobsStandIn) -> None:
    jobs.jobs = {1: a_job(1)}
    error = {"code": "UNAUTHENTICATED", "message": "The token is no longer good.", "requestId": "req_1"}
    text = text_of([a_line("one"), {"status": 401, "error": error}])
    jobs.faults += [("GET", "/logs?follow=true", *cut(text))]
    lines = batch.logs(1, follow=True)
    assert next(lines)["text"] == "one"
    with pytest.raises(ropewalk.RopewalkError, match="no longer good") as caught:
        next(lines)
    assert (caught.value.code, caught.value.status, caught.value.request_id) == ("UNAUTHENTICATED", 401, "req_1")


def test_an_invalid_line_is_not_requested_again(jobs: JobsStandIn) -> None:
    jobs.jobs = {1: a_job(1)}
    jobs.faults += [("GET", "/logs?follow=true", 200, text_of([a_line("one")]) + b"<html>\n", {})]
    with pytest.raises(ropewalk.RopewalkError, match="not JSON"):
        list(batch.logs(1, follow=True))
    assert len(jobs.asked("/logs")) == 1


def test_an_error_before_the_first_answer_is_raised_also_when_followed(jobs: JobsStandIn) -> None:
    with pytest.raises(ropewalk.RopewalkError, match="There is no job 7"):
        list(batch.logs(7, follow=True))
    jobs.jobs = {1: a_job(1)}
    jobs.faults += [("GET", "/logs?follow=false", *problem(503, "UNAVAILABLE", "Not now."))]
    assert list(batch.logs(1)) == []


def test_events_are_yielded_once_across_connections(jobs: JobsStandIn) -> None:
    jobs.jobs = {1: a_job(1)}
    events = [{"at": f"2026-01-01T00:00:0{n}.000Z", "code": code, "text": code} for n, code in enumerate("ABC")]
    jobs.lines = events
    jobs.faults += [("GET", "/events?follow=true", *cut(text_of(events[:2])))]
    assert [event["code"] for event in batch.events(1, follow=True)] == ["A", "B", "C"]
    assert jobs.asked("/events") == [{"follow": ["true"]}, {"follow": ["true"]}]
