"""The module's functions from Coiled's API, beside the classes."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from stand_in import TOKEN, StandIn, new_view

import ropewalk
from ropewalk.cli.main import main
from ropewalk.elsewhere import INSTEAD

#: Coiled's signatures of 2026, without Ropewalk's own parameters.
_COILED = {
    "list_clusters": ["account", "workspace", "max_pages", "just_mine"],
    "delete_cluster": ["name", "cluster_id", "account", "workspace", "pause"],
    "cluster_logs": ["cluster_id", "account", "workspace", "scheduler", "workers", "errors_only"],
    "list_core_usage": ["account"],
}


@pytest.mark.parametrize("name", _COILED)
def test_the_arguments_have_the_names_and_the_order_of_coiled(name: str) -> None:
    parameters = inspect.signature(getattr(ropewalk, name)).parameters.values()
    assert [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD] == _COILED[name]
    assert [one.name for one in parameters if one.kind is one.KEYWORD_ONLY][-2:] == ["api_url", "token"]


def connection(api: StandIn) -> dict[str, str]:
    return {"api_url": api.url, "token": TOKEN}


def cluster(number: int, **fields: Any) -> dict[str, Any]:
    instances = [{"id": "i-000head", "role": "head", "state": "ready", "process": process("scheduler", "started")}]
    instances += [{"id": f"i-00{n}", "role": "worker", "state": "ready", "process": process(f"blue-worker-00{n}", "started")} for n in (1, 2)]
    # `reads` is past the stand-in's updates: the stand-in leaves the view unchanged.
    whole = {**new_view(number, {"name": "blue", "workers": 0}), "status": "ready", "endedAt": None, "reads": 9}
    return {**whole, "instances": instances, **fields}


def process(name: str, state: str) -> dict[str, str]:
    return {"name": name, "state": state, "stage": ""}


def line(instance: str, text: str, stream: str = "stderr") -> dict[str, str]:
    return {"at": "2026-11-23T10:00:00Z", "instance": instance, "stream": stream, "text": text}


LINES = [line("i-000head", "a scheduler"), line("i-001", "one"), line("i-002", "two"), line("i-002", "booted", "agent")]


def test_clusters_are_listed_by_page_with_the_id_of_coiled(api: StandIn) -> None:
    api.views = {number: cluster(number) for number in (1, 2)}
    assert [one["id"] for one in ropewalk.list_clusters(**connection(api))] == [1, 2]
    assert api.requests[-1][1] == "/v1/clusters?kind=dask&limit=1000"
    ropewalk.list_clusters(max_pages=3, just_mine=True, workspace="test", **connection(api))
    assert api.requests[-1][1] == "/v1/clusters?kind=dask&user=ada&limit=300"


def test_those_of_another_workspace_are_not_listed(api: StandIn) -> None:
    with pytest.raises(ropewalk.RopewalkError, match="of the workspace test, not of other"):
        ropewalk.list_clusters("other", **connection(api))
    with pytest.raises(ValueError, match="max_pages is 0"):
        ropewalk.list_clusters(max_pages=0, **connection(api))


def test_a_cluster_is_ended_by_its_name_or_its_number(api: StandIn) -> None:
    api.views = {7: cluster(7), 8: cluster(8, name="red")}
    ropewalk.delete_cluster("red", **connection(api))
    assert [one["status"] for one in api.views.values()] == ["ready", "stopping"]
    ropewalk.delete_cluster(cluster_id=7, **connection(api))
    assert api.views[7]["status"] == "stopping"


def test_only_one_existing_cluster_is_ended(api: StandIn) -> None:
    with pytest.raises(ropewalk.RopewalkError, match="No open cluster has the name green") as raised:
        ropewalk.delete_cluster("green", **connection(api))
    assert raised.value.code == "NOT_FOUND"
    for arguments in ({}, {"name": "blue", "cluster_id": 7}):
        with pytest.raises(ValueError, match="either name or cluster_id"):
            ropewalk.delete_cluster(**arguments, **connection(api))
    with pytest.raises(ValueError, match="cannot be paused"):
        ropewalk.delete_cluster("blue", pause=True, **connection(api))
    with pytest.raises(TypeError, match="cluster_id is 'blue': give the number"):
        ropewalk.delete_cluster(cluster_id="blue", **connection(api))  # type: ignore[arg-type]
    assert api.sent("/stop") == []


def test_logs_are_of_the_scheduler_and_of_each_worker(api: StandIn) -> None:
    api.views, api.lines = {7: cluster(7)}, LINES
    assert ropewalk.cluster_logs(7, **connection(api)) == {"Scheduler": "a scheduler", "blue-worker-001": "one", "blue-worker-002": "two"}
    assert list(ropewalk.cluster_logs(7, workers=False, **connection(api))) == ["Scheduler"]
    assert list(ropewalk.cluster_logs(7, scheduler=False, workers="blue-worker-002", **connection(api))) == ["blue-worker-002"]
    with pytest.raises(ValueError, match="there is no blue-worker-009"):
        ropewalk.cluster_logs(7, workers=["blue-worker-009"], **connection(api))


def test_logs_of_what_failed(api: StandIn) -> None:
    api.views, api.lines = {7: cluster(7)}, LINES
    assert ropewalk.cluster_logs(7, errors_only=True, **connection(api)) == {}
    api.views[7]["instances"][1]["process"]["state"] = "error"
    assert list(ropewalk.cluster_logs(7, errors_only=True, **connection(api))) == ["blue-worker-001"]


def test_logs_of_an_ended_cluster_know_its_scheduler_from_its_history(api: StandIn) -> None:
    ended = {"status": "stopped", "endedAt": "2026-11-23T10:00:09Z", "reason": {"code": "IDLE", "text": "", "at": "2026-11-23T10:00:05Z"}}
    api.views, api.lines = {7: cluster(7, instances=[], **ended)}, LINES
    api.past = [{"id": "i-000head", "role": "head", "state": "ready", "process": "started"}, {"id": "i-001", "role": "worker", "state": "error", "process": None}]
    assert list(ropewalk.cluster_logs(7, **connection(api))) == ["Scheduler", "blue-worker-001", "blue-worker-002"]
    assert list(ropewalk.cluster_logs(7, errors_only=True, **connection(api))) == ["blue-worker-001"]
    assert [path for method, path, *_ in api.requests if "/at?" in path] == ["/v1/clusters/7/at?time=2026-11-23T10%3A00%3A05Z"] * 2


def test_the_command_logs_chooses_the_scheduler_and_workers_of_an_ended_cluster_too(
    api: StandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ROPEWALK_API_URL", api.url)
    monkeypatch.setenv("ROPEWALK_TOKEN", TOKEN)
    ended = {"status": "stopped", "endedAt": "2026-11-23T10:00:09Z"}
    api.views, api.lines = {7: cluster(7)}, LINES

    def read(*words: str) -> list[str]:
        assert main(["logs", "7", *words]) == 0
        return [line.rpartition("0000 ")[2] for line in capsys.readouterr().out.splitlines()]

    for _ in range(2):
        assert read() == ["a scheduler", "one", "two"]
        assert read("--scheduler") == ["a scheduler"]
        assert read("--workers", "all") == ["one", "two"]
        assert read("--workers", "any") == ["one"]
        assert read("--scheduler", "--workers", "blue-worker-002") == ["a scheduler", "two"]
        api.views[7] = cluster(7, instances=[], **ended)
        api.past = [{"id": "i-000head", "role": "head", "state": "ready", "process": "started"}, {"id": "i-001", "role": "worker", "state": "error", "process": None}]
    assert read("--workers", "error") == ["one"]
    assert main(["logs", "7", "--workers", "nope"]) == 2
    assert "--workers: there is no nope; there are blue-worker-001" in capsys.readouterr().err


def test_cores_in_use_by_user_with_the_limits(api: StandIn) -> None:
    assert ropewalk.list_core_usage(**connection(api)) == {
        "workspace": "test",
        "used": 12,
        "limit": 400,
        "user_limit": None,
        "users": {"ada": 8, "bob": 4},
    }


@pytest.mark.parametrize("name", sorted(INSTEAD))
def test_what_has_another_name_here_says_so(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}': ") as raised:
        getattr(ropewalk, name)
    assert raised.value.name == name
    # Every name in the message exists.
    named = [word.partition(".")[2].partition("(")[0].strip(",`.") for word in str(raised.value).split() if word.startswith("ropewalk.")]
    assert [one for one in named if not hasattr(ropewalk, one.partition(".")[0])] == []


def test_any_other_name_is_a_plain_attribute_error() -> None:
    with pytest.raises(AttributeError, match="^module 'ropewalk' has no attribute 'nonsense'$"):
        ropewalk.nonsense  # noqa: B018
    assert not hasattr(ropewalk, "nonsense")
