"""The parts that need neither a server nor Dask's processes."""

from __future__ import annotations

import sys
from importlib.metadata import version
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from ropewalk.errors import ClusterFailedError, ClusterTimeoutError, RopewalkError
from ropewalk.logs import chosen_lines, grouped, is_wanted, merged, read_filter
from ropewalk.private_envs import check_envs
from ropewalk.times import read_since
from ropewalk.versions import matching_requirements, version_mismatch
from ropewalk.waiting import check_amount, count_of, is_settled, pause_after


@pytest.mark.parametrize(
    ("amount", "count"), [(True, 7), (False, 0), (3, 3), (9, 9), (0, 0), (0.3, 3), (0.5, 4), (1.0, 7), (0.0, 0)]
)
def test_amounts_of_workers_are_those_of_dask(amount: Any, count: int) -> None:
    check_amount(amount)
    assert count_of(amount, 7) == count


@pytest.mark.parametrize("amount", [-1, 1.5, -0.1, float("nan"), "all", None])
def test_a_fraction_above_one_is_refused(amount: Any) -> None:
    with pytest.raises(ValueError, match="whole number"):
        check_amount(amount)


def view(**dask: Any) -> Any:
    counts = {"workersWanted": 4, "workersStarted": 0, "workersErrored": 0, "adaptive": None, **dask}
    failures = [{"code": "PROCESS_EXITED", "text": "it ended", "count": 4}]
    return {"number": 5, "status": "ready", "job": None, "failures": failures, "dask": counts}


def test_a_cluster_is_settled_when_every_worker_has_started_or_failed() -> None:
    assert is_settled(view(workersStarted=3), 4, 4, 3)
    assert not is_settled(view(workersStarted=3), 4, 4, 2), "one that has started connects in a moment"
    assert not is_settled({**view(workersStarted=3), "status": "scaling"}, 4, 4, 3)
    assert not is_settled(view(workersStarted=4), 6, 6, 4), "a view from before it was scaled"
    assert not is_settled(view(workersStarted=1, adaptive={"minimum": 1, "maximum": 9}), 4, 8, 1)
    with pytest.raises(ClusterFailedError, match="4 x PROCESS_EXITED: it ended"):
        is_settled(view(), 4, 2, 0)
    with pytest.raises(ClusterFailedError, match="Scale it first"):
        is_settled(view(workersStarted=4), 4, 5, 4)


def test_the_cluster_gets_the_dask_that_runs_here() -> None:
    pair = [f"{name}=={version(name)}" for name in ("dask", "distributed")]
    assert matching_requirements(None) == pair
    assert matching_requirements(["pandas==2.3.1"]) == ["pandas==2.3.1", *pair]
    assert matching_requirements(["Dask[array] >= 2026"]) == ["Dask[array] >= 2026"]
    assert matching_requirements(["dask-ml"]) == ["dask-ml", *pair]


def test_a_version_mismatch_is_reported_with_a_hint() -> None:
    here = {"python": sys.version, "dask": version("dask"), "distributed": version("distributed")}
    assert version_mismatch({"packages": here}) is None
    trouble = version_mismatch({"packages": {**here, "distributed": "2020.1.0", "python": "3.9.1.final.0"}})
    assert trouble is not None
    assert f"distributed 2020.1.0 (here {version('distributed')})" in trouble
    assert "python 3.9 (here" in trouble and "requirements=" in trouble


@pytest.mark.parametrize("env", [{"": "x"}, {"A=B": "x"}, {"A\0": "x"}])
def test_invalid_names_of_variables_are_refused(env: dict[str, str]) -> None:
    with pytest.raises(ValueError, match="not a valid name"):
        check_envs(env)


@pytest.mark.parametrize("value", ["hush\0", 17, None])
def test_invalid_values_of_variables_are_refused_without_showing_them(value: Any) -> None:
    with pytest.raises(ValueError, match="variable NAME") as caught:
        check_envs({"NAME": value})
    assert "hush" not in str(caught.value)


def test_a_timeout_is_a_timeout_error_and_a_ropewalk_error() -> None:
    error = ClusterTimeoutError("too late", code="TIMEOUT")
    assert isinstance(error, TimeoutError) and isinstance(error, RopewalkError)
    assert str(error) == "too late [TIMEOUT]"


def test_logs_are_grouped_by_process() -> None:
    texts = [("i_gone00worker-2", "stderr", "b"), ("i_0000worker-1", "stdout", "a"), ("i_head", "stderr", "s1")]
    texts += [("i_head", "agent", "not shown"), ("i_head", "stdout", "s2")]
    lines: Any = [{"at": "", "instance": id, "stream": stream, "text": text} for id, stream, text in texts]
    everything = {"Scheduler": "s1\ns2", "c-worker-worker-1": "a", "c-worker-worker-2": "b"}
    logs = group_logs("c", {"i_head"}, lines, scheduler=True, workers=True)
    assert logs == everything and list(logs) == list(everything)
    assert list(group_logs("c", {"i_head"}, lines, scheduler=False, workers=["c-worker-worker-2"])) == ["c-worker-worker-2"]


def test_names_of_workers_on_ec2_have_all_digits() -> None:
    ids = ["i-0aaaaaaaa12345678", "i-0bbbbbbbb12345678"]
    lines: Any = [{"at": "", "instance": one, "stream": "stdout", "text": one} for one in ids]
    names = ["c-worker-0aaaaaaaa12345678", "c-worker-0bbbbbbbb12345678"]
    assert list(group_logs("c", [], lines, scheduler=True, workers=True)) == names
    assert list(group_logs("c", [], lines, scheduler=True, workers=names[1:])) == names[1:]


def group_logs(cluster: str, heads: Any, lines: Any, **wanted: Any) -> Any:
    return grouped(cluster, heads, chosen_lines(lines, is_wanted(cluster, heads, [], **wanted), None))


@pytest.mark.parametrize(
    ("workers", "instances"),
    [
        (True, ["i_1", "i_2", "i_old"]),
        ("all", ["i_1", "i_2", "i_old"]),
        (False, []),
        ("any", ["i_1"]),
        ("c-worker-i_2", ["i_2"]),
        ("ready", ["i_1"]),
        (["error", "10.0.0.1"], ["i_1", "i_2"]),
        ("i_old, i_2", ["i_2", "i_old"]),
        (["c-worker-i_old"], ["i_old"]),
        ([], []),
    ],
)
def test_workers_are_chosen_as_on_the_command_line(workers: Any, instances: list[str]) -> None:
    present: Any = [
        {"id": "i_head", "role": "head", "state": "ready", "address": "10.0.0.9", "process": {"name": "scheduler"}},
        {"id": "i_1", "role": "worker", "state": "ready", "address": "10.0.0.1", "process": {"name": "c-worker-i_1"}},
        {"id": "i_2", "role": "worker", "state": "error", "address": None, "process": None},
    ]
    for scheduler in (True, False):
        wanted = is_wanted("c", {"i_head"}, present, scheduler=scheduler, workers=workers)
        assert [id for id in ("i_1", "i_2", "i_old") if wanted(id)] == instances
        assert wanted("i_head") is scheduler


def test_lines_are_filtered_and_in_one_order_of_time() -> None:
    texts = [("2", "i_1", "load b"), ("3", "i_1", "load c"), ("1", "i_head", "Load a"), ("2", "i_head", "load d"), ("2", "i_1", "e")]
    lines: Any = [{"at": at, "instance": id, "stream": "stdout", "text": text} for at, id, text in texts]
    chosen = chosen_lines(lines, lambda _: True, read_filter("load"))
    assert merged("c", {"i_head"}, chosen) == "2 c-worker-i_1 load b\n2 Scheduler load d\n3 c-worker-i_1 load c"
    assert [line["text"] for line in chosen_lines(lines, lambda _: True, read_filter("%^[lL]oad [ab]$%"))] == ["Load a", "load b"]
    assert read_filter("a.b").search("axb") is None  # type: ignore[union-attr]
    with pytest.raises(ValueError, match="filter is '%[(]%', which is no regular expression"):
        read_filter("%(%")
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone.utc)
    assert read_since("10m", now) == "2026-01-02T02:54:05.000Z"
    assert read_since(now.astimezone(timezone(timedelta(hours=2))), now) == "2026-01-02T03:04:05.000Z"
    assert read_since(None, now) is None
    with pytest.raises(ValueError, match="since is 'soon'"):
        read_since("soon", now)


def test_a_start_is_noticed_late_by_a_tenth_of_its_duration_at_most() -> None:
    assert [pause_after(waited) for waited in (0, 0.5, 3, 60)] == [0.1, 0.1, pytest.approx(0.15), 1.0]
