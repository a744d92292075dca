"""Events of clusters and jobs, with a stand-in for the API."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from stand_in import TOKEN, StandIn, new_view
from stand_in_jobs import JobsStandIn, a_job
from support import Start

import ropewalk
from ropewalk import batch
from ropewalk.cli.main import main

EVENTS = [
    {"seq": seq, "at": f"2026-11-23T10:00:0{seq}.000Z", "code": code, "text": f"text of {code}", "by": None}
    for seq, code in ((1, "CREATED"), (4, "READY"), (6, "SCALE"))
]


def numbers(events: Any) -> list[int]:
    return [event["seq"] for event in events]


def test_events_of_an_object_are_read_in_pages_while_it_is_open_and_afterwards(start: Start, api: StandIn) -> None:
    api.events = EVENTS
    cluster = start(n_workers=1)
    assert cluster.get_events() == EVENTS
    assert numbers(cluster.get_events(limit=2)) == [1, 4]
    assert numbers(cluster.get_events(after=4, limit=2)) == [6]
    cluster.close()
    assert numbers(cluster.get_events(after=1)) == [4, 6]


def test_events_of_an_object_in_an_event_loop(api: StandIn) -> None:
    api.events = EVENTS

    async def run() -> Any:
        async with ropewalk.Cluster(n_workers=0, asynchronous=True, quiet=True, api_url=api.url, token=TOKEN) as cluster:
            return await cluster.get_events(1, 1)

    assert numbers(asyncio.run(run())) == [4]


def test_an_answer_that_breaks_off_raises_its_error(start: Start, api: StandIn) -> None:
    error = {"status": 503, "error": {"code": "UNAVAILABLE", "message": "Not now.", "requestId": "req_1"}}
    cluster = start(n_workers=0)
    api.events, api.lines = [*EVENTS, {"seq": 9, **error}], [error]
    for read in (cluster.get_events, cluster.get_logs):
        with pytest.raises(ropewalk.RopewalkError, match="Not now"):
            read()


def test_events_without_an_object_by_number_or_name(api: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROPEWALK_API_URL", api.url)
    monkeypatch.setenv("ROPEWALK_TOKEN", TOKEN)
    api.views, api.events = {7: new_view(7, {"name": "blue"})}, EVENTS
    assert list(ropewalk.cluster_events(7)) == list(ropewalk.cluster_events("blue")) == EVENTS
    assert numbers(ropewalk.cluster_events("7", after=1, limit=1)) == [4]
    assert numbers(ropewalk.cluster_events(7, since="10m", follow=True, workspace="test")) == [1, 4, 6]
    assert "follow=true" in api.requests[-1][1] and "since=20" in api.requests[-1][1]
    # Raised by the call, not at the first event.
    with pytest.raises(ropewalk.RopewalkError, match="No open cluster has the name red"):
        ropewalk.cluster_events("red")
    with pytest.raises(TypeError, match="cluster is True: give its number or its name"):
        ropewalk.cluster_events(True)
    with pytest.raises(ValueError, match="since is 'soon'"):
        ropewalk.cluster_events(7, since="soon")


def test_the_command_prints_events_of_clusters(
    api: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROPEWALK_API_URL", api.url)
    monkeypatch.setenv("ROPEWALK_TOKEN", TOKEN)
    api.views, api.events = {7: new_view(7, {"name": "blue"})}, [*EVENTS, {**EVENTS[0], "seq": 9, "text": "two\nlines\x1b[2J"}]
    assert main(["cluster", "events", "blue", "--after", "1"]) == 0
    lines = [line.partition(" ")[2].partition(" ")[2] for line in capsys.readouterr().out.splitlines()]
    assert lines == ["#4 READY: text of READY", "#6 SCALE: text of SCALE", "#9 CREATED: two | lines"]
    assert main(["cluster", "events", "7", "--limit", "1", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == EVENTS[0]
    assert main(["cluster", "events", "7", "--limit", "0"]) == 2
    assert "--limit': Give a whole number from 1 to 999999." in capsys.readouterr().err


def test_the_command_prints_events_of_jobs(jobs: JobsStandIn, capsys: pytest.CaptureFixture[str]) -> None:
    jobs.jobs = {1: a_job(1)}
    jobs.lines = [{"at": "2026-01-01T00:00:00.000Z", "code": "SUBMITTED", "text": "by ada"}]
    assert main(["batch", "events", "job-1", "--since", "2h"]) == 0
    assert capsys.readouterr().out.endswith(" SUBMITTED: by ada\n")
    assert sorted(jobs.asked("/events")[0]) == ["follow", "since"]
    assert next(batch.events(1, since="10m", workspace="default"))["code"] == "SUBMITTED"
    with pytest.raises(ropewalk.RopewalkError, match="not of team-a"):
        batch.events(1, workspace="team-a")
