"""The command `ropewalk`, with a stand-in for the API: its requests, output and exit codes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from stand_in import TOKEN, StandIn, new_view, problem
from stand_in_jobs import JobsStandIn, a_job, a_line

from ropewalk.cli.environment_files import read_registry_auth, read_variables
from ropewalk.cli.job_views import format_bar, format_ids
from ropewalk.cli.main import main
from ropewalk.package_sync.modules import module_roots
from ropewalk.printable import clean

Run = Callable[..., tuple[int, str, str]]

WHO = {"user": "ada", "workspace": "default", "role": "admin", "tokenId": "abc", "scopes": ["read"], "expiresAt": None}


@pytest.fixture
def ropewalk(capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command line: the exit code, standard output and standard error."""

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def a_whole_job(number: int = 1, **more: Any) -> dict[str, Any]:
    times = {"submittedAt": "2026-01-01T00:00:00.000Z", "startedAt": "2026-01-01T00:00:01.000Z", "endedAt": None}
    return a_job(number, **{**times, "command": "echo hi", "reason": None, "recentErrors": [], **more})


def test_a_job_is_submitted_with_its_options(jobs: JobsStandIn, ropewalk: Run, tmp_path: Path) -> None:
    variables = tmp_path / "more.env"
    variables.write_text("export A=one # comment\nB='two words'\n")
    options = ["--n-tasks", "3", "-N", "-1", "-e", "C=3", "--env-file", str(variables), "--retries", "2", "--gpu"]
    options += ["--no-task-on-scheduler", "--cpu", "2,8", "--vm-type", "a,b", "-t", "team=weather"]
    options += ["--after", "4,5", "--instance-credentials"]
    code, out, err = ropewalk("batch", "run", *options, "echo", "--ntasks", "$HOME")
    assert (code, out) == (0, "Job 1 (job-1) submitted\n")
    assert "note: --ntasks after the script belongs to the script" in err
    assert jobs.sent("/v1/jobs") == [
        {
            "command": ["echo", "--ntasks", "$HOME"],
            "ntasks": 3,
            "maxWorkers": -1,
            "env": {"A": "one", "B": "two words", "C": "3"},
            "retries": 2,
            "gpu": True,
            "taskOnScheduler": False,
            "cpu": [2, 8],
            "vmTypes": ["a", "b"],
            "tags": {"team": "weather"},
            "after": [4, 5],
            "instanceCredentials": True,
        }
    ]


def test_options_of_the_header_are_carried_out(
    jobs: JobsStandIn, ropewalk: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.env").write_text("A=1\n")
    (tmp_path / "values.txt").write_text("one\ntwo\n")
    lines = ["#!/bin/sh", "# ROPEWALK env-file own.env", "# COILED map-over-file values.txt", "# ROPEWALK ntasks 7"]
    (tmp_path / "job.sh").write_text("\n".join(lines))
    assert ropewalk("batch", "run", "--env", "A=2", "job.sh")[0] == 0
    sent = jobs.sent("/v1/jobs")[0]
    assert sent["env"] == {"A": "2"}
    assert sent["mapOver"] == {"fileContent": "one\ntwo\n"}
    # The server reads the other options.
    assert sorted(sent["clientOptions"]) == ["env-file", "map-over-file"]


def test_a_python_script_gets_this_environment(
    jobs: JobsStandIn, ropewalk: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "program.py"
    script.write_text("import beside\n")
    monkeypatch.setattr(sys, "path", [*sys.path])
    asked: list[tuple[Any, list[Path]]] = []

    def make_software(_: Any, options: Any, say: Any, *, warn: Any, programs: list[Path]) -> dict[str, Any]:
        assert tmp_path.resolve() in module_roots()
        asked.append((options, programs))
        say("Package sync: said")
        warn("package_sync_ignore could help")
        return {"requirements": ["dask"]}

    monkeypatch.setattr("ropewalk.batch.submit.make_software", make_software)
    code, _, err = ropewalk("batch", "run", "--package-sync-ignore", "a,b", "--package-sync-strict", str(script))
    assert (code, jobs.sent("/v1/jobs")[0]["software"]) == (0, {"requirements": ["dask"]})
    assert (asked[0][0].ignore, asked[0][0].strict, asked[0][1]) == (frozenset({"a", "b"}), True, [script])
    assert "Package sync: said\nwarning: --package-sync-ignore could help\n" in err
    assert ropewalk("batch", "run", "--no-package-sync", str(script))[0] == 0
    assert ropewalk("batch", "run", "--requirement", "pandas", "--python", "3.12", str(script))[0] == 0
    assert [body.get("software") for body in jobs.sent("/v1/jobs")[1:]] == [None, {"requirements": ["pandas"], "python": "3.12"}]
    assert len(asked) == 1


def test_wait_returns_whether_every_task_is_done(jobs: JobsStandIn, ropewalk: Run) -> None:
    jobs.jobs[4] = a_whole_job(4, name="four")
    jobs.reads_before_done = 2
    code, out, err = ropewalk("batch", "wait", "four")
    assert (code, out) == (0, "Job 4 done: 0 / 2 done\n")
    assert "Job 4 running: 0 / 2 done, 2 running" in err
    failed = {"total": 2, "pending": 0, "assigned": 0, "running": 0, "done": 1, "error": 1, "cancelled": 0}
    causes = [{"code": "EXIT_1", "text": "exit code 1", "count": 2, "lastAt": "2026-01-01T00:00:03.000Z"}]
    jobs.jobs[5] = a_whole_job(5, status="error", tasks=failed, endedAt="2026-01-01T00:00:03.500Z", failures=causes)
    jobs.reads_before_done = 100
    jobs.tasks = [{"id": 3, "index": 1, "state": "error", "attempt": 1}]
    jobs.lines = [a_line("fine", task=3), a_line("boom \x1b[31mred", task=3, stream="stderr")]
    code, out, err = ropewalk("batch", "wait", "5")
    assert (code, out) == (1, "Job 5 error: 1 / 2 done, 1 error in 2.5 s\n")
    assert "Failed attempts by cause:\n  2 x EXIT_1: exit code 1\n" in err
    assert "Failed task ids: 3\n(Task 3)   boom red\n" in err


def test_lists_and_one_job(jobs: JobsStandIn, ropewalk: Run) -> None:
    assert ropewalk("batch", "list")[2].startswith("There are no jobs yet.")
    for number in (1, 2, 3):
        jobs.jobs[number] = a_whole_job(number, name=f"n{number}", cost={"dollars": 0.001})
    code, out, _ = ropewalk("batch", "list", "--sort", "id", "--limit", "2")
    assert code == 0
    assert [line.split("│")[1:3] for line in out.splitlines() if line.startswith("│")] == [
        [" 2  ", " n2   "],
        [" 3  ", " n3   "],
    ]
    assert "<$0.01" in out
    assert [job["number"] for job in json.loads(ropewalk("batch", "list", "--format", "json")[1])] == [3, 2, 1]
    assert "Job 2 running: 0 / 2 done, 2 running" in ropewalk("batch", "status", "n2")[1]
    assert ropewalk("batch", "status", "--tasks")[2] == "error: --tasks and --state need a job\n"


def test_the_first_tasks_are_shown_and_all_as_json(jobs: JobsStandIn, ropewalk: Run) -> None:
    jobs.jobs[1] = a_whole_job(1)
    one = {"state": "done", "attempt": 1, "exitCode": 0, "signal": None, "startedAt": None, "endedAt": None}
    rest = {"instance": None, "reason": None, "cost": {"dollars": 0.0012}}
    jobs.tasks = [{**one, **rest, "id": id} for id in range(1_500)]
    for limit, shown in (([], 1_000), (["--limit", "3"], 3)):
        _, out, err = ropewalk("batch", "status", "1", "--tasks", *limit)
        assert "$0.0012" in out
        assert sum(line.startswith("│") for line in out.splitlines()) == shown
        assert err == f"There are more tasks than these {shown}: --limit N, --state error, --format json\n"
    assert len(json.loads(ropewalk("batch", "status", "1", "--tasks", "--format", "json")[1])) == 1_500


def test_logs_are_in_the_order_of_time(jobs: JobsStandIn, ropewalk: Run) -> None:
    jobs.jobs[1] = a_whole_job(1)
    jobs.lines = [a_line("two", seconds=2), a_line("one", seconds=1, task=1), a_line("agent", seconds=0, task=None)]
    texts = [line.split()[-1] for line in ropewalk("batch", "logs", "1")[1].splitlines()]
    assert texts == ["one", "two"]
    assert ropewalk("batch", "logs", "1", "--filter", "%^t%", "--format", "json")[1].count("\n") == 1
    assert jobs.asked("/logs")[0] == {"follow": ["false"]}
    ropewalk("batch", "logs", "1", "--tasks", "0", "--task", "3-4")
    assert jobs.asked("/logs")[-1]["tasks"] == ["0,3-4"]


def test_cancel_and_errors(jobs: JobsStandIn, ropewalk: Run) -> None:
    jobs.jobs[1] = a_whole_job(1)
    assert ropewalk("batch", "cancel", "1")[:2] == (0, "Job 1: cancelling\n")
    code, _, err = ropewalk("batch", "cancel", "none")
    assert (code, err.splitlines()[0]) == (1, "error: no job has the name none")
    assert "ropewalk batch list shows the names" in err
    code, _, err = ropewalk("batch", "status", "9")
    assert (code, err) == (1, "error: There is no job 9.\n  request id: req_test\n")
    jobs.faults = [("GET", "/v1/jobs/1", *problem(400, "VALIDATION", "Give a number.", field="x", hint="Say it."))]
    code, _, err = ropewalk("batch", "status", "1")
    assert (code, err) == (2, "error: x: Give a number.\n  how to fix: Say it.\n  request id: req_test\n")


@pytest.mark.parametrize("site", ["dashboard", "jupyter"])
def test_links_of_a_cluster_are_printed_alone(api: StandIn, ropewalk: Run, monkeypatch: pytest.MonkeyPatch, site: str) -> None:
    monkeypatch.setenv("ROPEWALK_API_URL", api.url)
    monkeypatch.setenv("ROPEWALK_TOKEN", TOKEN)
    api.views[7] = new_view(7, {"name": "blue"})
    code, out, err = ropewalk("cluster", site, "blue")
    assert code == 0 and out.startswith(f"{api.url}/clusters/7/{site}/?link=") and out.count("\n") == 1
    assert "Open it before 20" in err
    assert api.sent(f"/clusters/7/{site}-link") == [None]


def test_why_names_the_events(api: StandIn, ropewalk: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROPEWALK_API_URL", api.url)
    monkeypatch.setenv("ROPEWALK_TOKEN", TOKEN)
    api.views[7] = new_view(7, {"name": "blue"})
    assert ropewalk("cluster", "why", "blue")[:2] == (0, "State      The cluster is pending. (events #3, #9)\n")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["batch", "run", "--ntasks", "x", "a"], "Give a whole number."),
        (["batch", "run", "--ntask", "3", "a"], "--ntask"),
        (["batch", "run", "--env", "1A=2", "echo"], "--env: must be KEY=val"),
        (["batch", "run", "--job-timeout", "soon", "echo"], "--job-timeout is 'soon'"),
        (["batch", "run", "--python", "/usr/bin/python3", "echo"], "/usr/bin/python3 -m pip install ropewalk"),
        (["batch", "logs", "1", "--since", "then"], "Give a time"),
        (["cluster", "get", "-3"], "-3"),
        (["cluster", "exec", "1"], "Node 24"),
        (["cluster", "create"], "ropewalk.Cluster() in Python starts clusters"),
        (["doctor", "--all"], "for those who run Ropewalk"),
        (["nonsense"], "nonsense"),
    ],
)
def test_a_wrong_command_line_sends_nothing(jobs: JobsStandIn, ropewalk: Run, words: list[str], says: str) -> None:
    code, out, err = ropewalk(*words)
    assert (code, out) == (2, "")
    assert says in err
    assert "Traceback" not in err
    assert jobs.sent("/v1/jobs") == []


def test_signing_in_and_out(
    jobs: JobsStandIn, ropewalk: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("ROPEWALK_HOME", str(home))
    monkeypatch.delenv("ROPEWALK_TOKEN")
    monkeypatch.delenv("ROPEWALK_API_URL")
    code_of = {"deviceCode": "secret", "userCode": "BCDF-GHJK", "expiresInSeconds": 600, "intervalSeconds": 0}
    urls = {"verificationUrl": "http://x/login", "verificationUrlComplete": "http://x/login?code=BCDF-GHJK"}
    pending = problem(428, "AUTHORIZATION_PENDING", "Not yet.")
    jobs.faults = [
        ("POST", "/v1/login/device", 200, {**code_of, **urls}, {}),
        ("POST", "/v1/login/device/token", *pending),
        ("POST", "/v1/login/device/token", 200, {"token": TOKEN}, {}),
        ("GET", "/v1/whoami", 200, WHO, {}),
    ]
    code, out, err = ropewalk("login", "--api-url", jobs.url)
    assert (code, out.split(" as ")[1]) == (0, "ada (workspace default): admin; token abc with the scopes read\n")
    assert "BCDF-GHJK" in err
    assert "secret" not in out + err
    assert TOKEN not in out + err
    # A program that signs in has no token yet.
    assert [headers.get("authorization") for _, path, _, headers in jobs.requests if "login" in path] == [None] * 3
    config = home / "config.yaml"
    assert TOKEN in config.read_text()
    assert config.stat().st_mode & 0o777 == 0o600
    jobs.faults = [("GET", "/v1/whoami", 200, WHO, {}), ("GET", "/v1/whoami", 200, WHO, {})]
    assert json.loads(ropewalk("whoami", "--format", "json")[1]) == WHO
    jobs.faults += [("POST", "/v1/tokens/abc/revoke", 200, {}, {})]
    assert ropewalk("logout")[:2] == (0, "Signed out: the token is revoked\n")
    assert TOKEN not in config.read_text()
    assert ropewalk("whoami")[0] == 2


def test_a_token_from_standard_input_is_tried_first(
    jobs: JobsStandIn, ropewalk: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROPEWALK_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "stdin", io.StringIO("rw_default_abc-wrong\n"))
    code, _, err = ropewalk("login", "--token")
    assert (code, "not valid" in err, "wrong" in err) == (1, True, False)
    assert not (tmp_path / "config.yaml").exists()


def test_text_from_others_cannot_move_the_cursor() -> None:
    assert clean("a\x1b[2Jb\x1b]0;title\x07c\rd\u202ee\tf") == "abcde\tf"


def test_small_formats() -> None:
    assert format_ids([1, 3, 4, 5, 9]) == "1, 3-5, 9"
    job = a_whole_job(tasks={"total": 10, "done": 4, "error": 1, "cancelled": 0})
    assert format_bar(job, 1_767_225_611.0) == "[##########          ] 50 %, 0.5/s, 10 s left"
    cancelled = a_whole_job(tasks={"total": 100, "done": 4, "error": 1, "cancelled": 45})
    assert format_bar(cancelled, 1_767_225_611.0) == "[##########          ] 50 %, 0.5/s, 1 m 40 s left"


def test_credentials_of_registries(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text('{"auths": {"https://ghcr.io/": {"auth": "YWRhOnB3OjE="}}}')
    assert read_registry_auth(str(path)) == {"ghcr.io": ("ada", "pw:1")}


def test_variables_of_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "v.env"
    path.write_text("# note\nA=\"one\\ntwo\"\nB=`x`\nC= plain # why\n\nD='a#b'\nE=\n")
    monkeypatch.setenv("F", "mine")
    found = read_variables("--env", ["F", "A=again"], [str(path)])
    assert found == {"A": "again", "B": "x", "C": "plain", "D": "a#b", "E": "", "F": "mine"}
    assert read_variables("--env", [], [str(path)])["A"] == "one\ntwo"
