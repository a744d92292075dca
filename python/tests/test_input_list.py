"""Inputs that do not fit in a request, as a list in the object store."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from stand_in_jobs import JobsStandIn

from ropewalk import batch
from ropewalk.batch import input_list
from ropewalk.cli.main import main


def uploaded(jobs: JobsStandIn) -> list[Any]:
    [(path, content)] = [(path, body) for method, path, body, _ in jobs.requests if method == "PUT"]
    assert path == f"/v1/file-blobs/{hashlib.sha256(content).hexdigest()}"
    assert jobs.sent("/v1/jobs")[-1]["mapOver"]["list"] == {
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
        "count": content.count(b"\n"),
    }
    return [json.loads(line) for line in content.decode().splitlines()]


def test_values_that_do_not_fit_in_a_request_are_uploaded(jobs: JobsStandIn) -> None:
    many = ["s3://bucket/some/long/path/to/a/file-%08d.parquet" % i for i in range(400_000)]
    with pytest.warns(UserWarning, match="^map_over_values: the values do not fit in a request: .* not sealed"):
        batch.run("true", map_over_values=many, map_over_input_var="FILE")
    assert uploaded(jobs) == many
    [sent] = jobs.sent("/v1/jobs")
    assert sent["mapOver"].keys() == {"list", "inputVar"}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"map_over_values": ["a"], "map_over_task_var_dicts": [{"A": 1}]}, "exactly one of them"),
        ({"map_over_task_var_dicts": [{"A": 1}], "map_over_input_var": "X"}, "for values, not for variables"),
        ({"map_over_task_var_dicts": [{"A": 1}], "map_over_delimiter": ";"}, "for values, not for variables"),
    ],
)
def test_none_of_the_inputs_is_dropped(given: dict[str, Any], error: str, jobs: JobsStandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_list, "_MAX_SENT_BYTES", 1)
    with pytest.raises(ValueError, match=error):
        batch.run("true", **given)
    assert jobs.requests == []


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        ({"map_over_values": "a, b,,\"c\""}, ["a", " b", "", '"c"']),
        ({"map_over_values": "a;b,c", "map_over_delimiter": ";"}, ["a", "b,c"]),
        ({"map_over_task_var_dicts": [{"A": 1, "B": "x y"}, {"A": 2}]}, [{"A": "1", "B": "x y"}, {"A": "2"}]),
        ({"map_over_file": b"one\r\ntwo words\n\n\"\xc3\xbc\"\n\n"}, ["one", "two words", "", '"ü"']),
        ({"map_over_file": b"\xef\xbb\xbfa\nb\x00c\x00", "map_over_delimiter": "\\0"}, ["a\nb", "c"]),
        ({"map_over_file": b"a,b,\n", "map_over_delimiter": ","}, ["a", "b"]),
    ],
)
def test_they_are_split_as_the_server_splits_them(
    given: dict[str, Any], lines: list[Any], jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(input_list, "_MAX_SENT_BYTES", 1)
    if "map_over_file" in given:
        (tmp_path / "inputs.txt").write_bytes(given["map_over_file"])
        given = {**given, "map_over_file": tmp_path / "inputs.txt"}
    with pytest.warns(UserWarning, match="not sealed"):
        batch.run("true", **given)
    assert uploaded(jobs) == lines


def test_the_header_of_the_script_may_name_the_delimiter(
    jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(input_list, "_MAX_SENT_BYTES", 1)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "inputs.txt").write_text("a;b\nc;d\n")
    (tmp_path / "work.sh").write_text("#!/bin/sh\n# ROPEWALK map-over-delimiter ;\n")
    assert main(["batch", "run", "--map-over-file", "inputs.txt", "work.sh"]) == 0
    assert uploaded(jobs) == ["a", "b\nc", "d\n"]
    assert "--map-over-file: the values do not fit in a request" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"map_over_values": ["a\0b"]}, "map_over_values: the value of task 0 has a NUL"),
        ({"map_over_values": ["a", "x" * 32_769]}, "map_over_values: the value of task 1 has 32769 characters"),
        ({"map_over_values": ["\ud800"]}, "half of a surrogate pair"),
        ({"map_over_task_var_dicts": [{"A B": "1"}]}, "map_over_task_var_dicts: 'A B' is not a name"),
        ({"map_over_task_var_dicts": [{"COILED_BATCH_TASK_ID": "1"}]}, "Ropewalk sets COILED_BATCH_TASK_ID itself"),
        ({"map_over_values": ["a", "b", "c"]}, "there are 3 values; a job has at most 2 tasks"),
        ({"map_over_values": "a,b", "map_over_delimiter": ""}, "map_over_delimiter is empty"),
        ({"map_over_values": ["x" * 100]}, r"map_over_values: the values have \d.* and those of a job at most 256 MiB"),
    ],
)
def test_values_that_no_task_could_have_are_refused(
    given: dict[str, Any], why: str, jobs: JobsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, limit in {"_MAX_SENT_BYTES": 1, "_MAX_TASKS": 2, "_MAX_LIST_BYTES": 50}.items():
        monkeypatch.setattr(input_list, name, limit)
    with pytest.raises(ValueError, match=why):
        batch.run("true", **given)
    assert jobs.sent("/v1/jobs") == []
