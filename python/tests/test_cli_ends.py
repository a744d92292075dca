"""How the command `ropewalk` ends when it is interrupted, its output is closed, or the API does not answer."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import pytest
from stand_in import problem
from stand_in_jobs import JobsStandIn, a_job, a_line

from ropewalk.cli import log_lines
from ropewalk.cli.main import main

_ROPEWALK = [sys.executable, "-m", "ropewalk"]


def test_a_closed_pipe_is_no_error(jobs: JobsStandIn) -> None:
    jobs.jobs = {1: a_job(1)}
    # More than a pipe holds.
    jobs.lines = [a_line("a line of some length" * 4, seconds=1) for _ in range(3_000)]
    for words in (["batch", "logs", "1"], ["batch", "logs", "1", "--format", "json"]):
        with subprocess.Popen([*_ROPEWALK, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None and process.stderr is not None
            assert "a line" in process.stdout.readline()
            process.stdout.close()
            assert (process.stderr.read(), process.wait(60)) == ("", 0)


@pytest.mark.parametrize(("redirection", "code"), [(">&-", 0), ("2>&-", 1)])
def test_closed_streams_are_no_error(jobs: JobsStandIn, redirection: str, code: int) -> None:
    jobs.jobs = {1: {**a_job(1), "submittedAt": "2026-01-01T00:00:00Z", "startedAt": None, "endedAt": None, "command": "true"}}
    words = ["batch", "list"] if code == 0 else ["batch", "status", "9"]
    done = subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", *_ROPEWALK, *words], capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stdout, done.stderr) == (code, "", "")


def test_an_interrupt_is_no_bug(jobs: JobsStandIn, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupt(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ropewalk.cli.jobs.newest", interrupt)
    assert main(["batch", "list"]) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_repeated_requests_are_shown(jobs: JobsStandIn, capsys: pytest.CaptureFixture[str]) -> None:
    jobs.jobs = {1: a_job(1, status="done", submittedAt="2026-01-01T00:00:00Z", startedAt=None, endedAt=None, command="true", recentErrors=[], reason=None)}
    jobs.faults = [("GET", "/1", *problem(503, "UNAVAILABLE", "Not now.", retry_after=0.01))] * 2
    assert main(["batch", "wait", "1"]) == 0
    assert capsys.readouterr().err == "Retrying: Not now.\n"


def test_lines_in_the_order_of_time_can_be_left_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_lines, "_MAX_ORDERED", 2)
    lines = log_lines._in_time_order(iter([a_line("one"), a_line("two"), a_line("three")]))
    next(lines)
    # Raises RuntimeError where a generator yields in its end.
    lines.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({}, "error: The address of the Ropewalk API is not set.\n  how to fix: Pass --api-url, set ROPEWALK_API_URL, or sign in with `ropewalk login`"),
        ({"ROPEWALK_API_URL": "http://x"}, "error: There is no token for http://x.\n  how to fix: Pass --token-file, set ROPEWALK_TOKEN, or sign in"),
        ({"ROPEWALK_API_URL": "nonsense", "ROPEWALK_TOKEN": "rw_x"}, "error: The URL of the API is not a URL.\n"),
    ],
)
def test_a_missing_address_or_token_is_named(
    variables: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert main(["batch", "list"]) == 2
    assert capsys.readouterr().err.startswith(says)


def test_a_remedy_names_the_option(jobs: JobsStandIn, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["batch", "run", "--no-package-sync", "missing.py"]) == 2
    assert "use --command-on-instance." in capsys.readouterr().err
