"""`ropewalk.batch` with a stand-in for the API: the submitted jobs."""

from __future__ import annotations

import base64
import logging
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from stand_in import problem
from stand_in_jobs import JobsStandIn

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
        after=[3, 4],
        after_ok=5,
        priority=-1,
        retries=2,
        job_timeout="1 hour",
        lease=timedelta(seconds=90),
        watchdog_timeout=1800,
        private_to_creator=True,
    )
    ids = {"number": 1, "job_id": 1, "cluster_id": 1}
    assert created == {**ids, "name": "all", "existing": False, "warnings": []}
    assert jobs.sent("/v1/jobs") == [
        {
            "command": ["echo", "a b", "$HOME"],
            "name": "all",
            "getOrCreate": True,
            "env": {"A": "b"},
            "secretEnv": {"S": "hush"},
            "array": "0-10:2",
            "maxWorkers": -1,
            "after": [3, 4],
            "afterOk": [5],
            "priority": -1,
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


def test_a_command_that_begins_with_a_path_that_does_not_exist_is_refused(
    jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path in (str(tmp_path / "nope.sh"), "./nope", "nope.py", "~/nope.sh"):
        with pytest.raises(ValueError, match=rf"{path} does not exist here.*command_on_instance=True"):
            batch.run(f"{path} 1", package_sync=False)
        with pytest.raises(ValueError, match="does not exist here"):
            batch.plan(path)
    assert jobs.sent("/v1/jobs") == []
    there: list[Any] = [{"command_on_instance": True}, {"container": "a:1"}, {"software": "science"}, {"input_filestore": "raw"}]
    for options in [*there, {"host_setup_script_content": "true"}]:
        batch.run("/opt/tool/run", **options)
    (tmp_path / "work.txt").write_text("# ROPEWALK container a:1\n")
    batch.run("/opt/tool/run work.txt")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "inner.sh").write_text("true\n")
    batch.run("./inner.sh", upload="data")
    assert len(jobs.sent("/v1/jobs")) == 7


def test_options_of_coiled_are_sent_by_their_command_line_names(jobs: JobsStandIn) -> None:
    jobs.warnings = ["run-on-host has no effect here."]
    options: Any = {"run_on_host": True, "pipe_to_files": False, "sync": None}
    with pytest.warns(UserWarning, match="run-on-host has no effect") as caught:
        batch.run("true", **options)
    assert caught[0].filename == __file__
    sent = {"run-on-host": ""}
    assert jobs.sent("/v1/jobs")[0]["options"] == sent


def test_a_job_is_mapped_over_values_lines_or_variables(jobs: JobsStandIn, tmp_path: Path) -> None:
    lines = tmp_path / "inputs.txt"
    lines.write_bytes("one two\r\n'ünï'\n".encode())
    batch.run("x", map_over_values=["a,b", 3], map_over_input_var="FILE")
    batch.run("x", map_over_values="a;b", map_over_delimiter=";")
    batch.run("x", map_over_file=lines)
    batch.run("x", map_over_task_var_dicts=[{"FOO": 1, "BAR": 2}, {"FOO": 3, "BAR": 4}])
    assert [request["mapOver"] for request in jobs.sent("/v1/jobs")] == [
        {"inputVar": "FILE", "values": ["a,b", "3"]},
        {"delimiter": ";", "values": "a;b"},
        {"fileContent": "one two\r\n'ünï'\n"},
        {"variables": [{"FOO": "1", "BAR": "2"}, {"FOO": "3", "BAR": "4"}]},
    ]
    with pytest.raises(TypeError, match="FOO: None is neither"):
        batch.run("x", map_over_task_var_dicts=[{"FOO": None}])  # type: ignore[dict-item]


def test_where_tasks_run_and_when_they_start_is_sent(jobs: JobsStandIn) -> None:
    for value in (False, True, None):
        batch.run("true", task_on_scheduler=value)
    batch.run("true", scheduler_task_array="0,3-5", wait_for_ready_cluster=True)
    sent = [{name: value for name, value in request.items() if name != "command"} for request in jobs.sent("/v1/jobs")]
    gang = {"schedulerTaskArray": "0,3-5", "waitForReadyCluster": True}
    assert sent == [{"taskOnScheduler": False}, {"taskOnScheduler": True}, {}, gang]


def test_a_command_can_be_the_text_of_a_script(jobs: JobsStandIn, tmp_path: Path) -> None:
    text = "#!/bin/bash\n# COILED ntasks 3\necho $COILED_BATCH_TASK_ID\n"
    batch.run(text, command_as_script=True, host_setup_script_content="echo ready")
    [sent] = jobs.sent("/v1/jobs")
    assert (sent["command"], sent["hostSetupScript"]) == (["command.sh"], "echo ready")
    assert base64.b64decode(sent["files"][0]["content"]).decode() == text
    assert "software" not in sent
    (tmp_path / "setup.sh").write_text("echo two")
    batch.run("true", host_setup_script=tmp_path / "setup.sh", registry_auth={"ghcr.io": ("ada", "b")}, container="ghcr.io/x")
    assert jobs.sent("/v1/jobs")[1]["hostSetupScript"] == "echo two"
    assert jobs.sent("/v1/jobs")[1]["registryAuth"] == {"ghcr.io": {"auth": "YWRhOmI="}}
    with pytest.raises(TypeError, match="not a list of words"):
        batch.run(["echo"], command_as_script=True)
    with pytest.raises(ValueError, match="give one of them"):
        batch.run("true", host_setup_script="x", host_setup_script_content="y")


def test_a_named_environment_is_used_instead_of_package_sync(jobs: JobsStandIn) -> None:
    batch.run("python work.py", software="science")
    [sent] = jobs.sent("/v1/jobs")
    assert (sent["options"], "software" in sent) == ({"software": "science"}, False)
    with pytest.raises(ValueError, match="software and container both say"):
        ropewalk.Cluster(software="science", container="daskdev/dask")
    with pytest.raises(ropewalk.RopewalkError, match="none has gdal, r-base=4"):
        ropewalk.create_software_environment("science", conda={"dependencies": ["gdal", "prefect", "r-base=4"]})
    with pytest.raises(ValueError, match="either pip, conda or container"):
        ropewalk.create_software_environment("science")


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
    Path("sub").mkdir()
    Path("sub/big").write_text("another")
    with pytest.raises(ValueError, match="would both become big in the working directory"):
        batch.run("true", upload=["big", "sub"])


def test_a_logger_gets_the_warnings(jobs: JobsStandIn, caplog: Any) -> None:
    jobs.warnings = ["memory has no effect here."]
    batch.run("true", logger=logging.getLogger("mine"), cluster_kwargs={"spot_policy": "spot"}, memory="8 GiB")
    assert [(record.name, record.message) for record in caplog.records] == [("mine", "memory has no effect here.")]
    assert jobs.sent("/v1/jobs") == [{"command": ["true"], "spotPolicy": "spot", "memory": "8 GiB"}]


def test_errors_about_inputs_name_the_argument(jobs: JobsStandIn) -> None:
    refusal = problem(422, "VALIDATION", 'mapOver.inputVar: "A B" is not a name of an environment variable.', field="mapOver.inputVar")
    jobs.faults.append(("POST", "/v1/jobs", *refusal))
    with pytest.raises(ropewalk.RopewalkError, match=r'^map_over_input_var: "A B" is not a name'):
        batch.run("true", map_over_values="a", map_over_input_var="A B")
    buffers: list[Any] = [{"path": "x", "buffer": b"x"}, {"relative_path": "x", "buffer": b"x"}]
    for one in buffers:
        with pytest.raises(TypeError, match="relative_path.*io.BytesIO"):
            batch.run("true", buffers_to_upload=[one])
