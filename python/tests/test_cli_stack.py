"""The command `ropewalk` with a running Ropewalk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ropewalk.cli.main import main

pytestmark = pytest.mark.stack


def test_a_job_from_start_to_end(
    stack: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ROPEWALK_HOME", str(tmp_path))
    monkeypatch.setenv("ROPEWALK_API_URL", stack["api_url"])
    (tmp_path / "token").write_text(stack["token"])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hello.sh").write_text("#!/bin/sh\n# ROPEWALK ntasks 2\necho hello $ROPEWALK_BATCH_TASK_ID $WHO\n")

    def run(*words: str) -> str:
        assert main(words) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    run("login", "--token-file", "token")
    monkeypatch.delenv("ROPEWALK_API_URL")
    assert json.loads(run("whoami", "--format", "json"))["scopes"]
    assert ": 2 / 2 done in " in run("batch", "run", "--wait", "--name", "from-pip", "-e", "WHO=you", "hello.sh")
    lines = [line.split()[4:] for line in run("batch", "logs", "from-pip").splitlines()]
    assert sorted(lines) == [["hello", "0", "you"], ["hello", "1", "you"]]
    assert "from-pip" in run("batch", "list")
    assert [task["state"] for task in json.loads(run("batch", "status", "from-pip", "--tasks", "--format", "json"))] == ["done"] * 2
    assert "all 2 tasks exited with 0" in run("batch", "why", "from-pip")
    number = json.loads(run("cluster", "list", "--kind", "job", "--limit", "1", "--format", "json"))[0]["number"]
    assert f"Cluster {number} (from-pip)" in run("cluster", "get", str(number))
    assert run("cluster", "why", str(number))
    assert f"Job {number} (from-pip) at " in run("batch", "at", "from-pip", "0s")
    assert f"Cluster {number} (from-pip) at " in run("cluster", "at", str(number), "0s")
    assert run("batch", "events", "from-pip").splitlines()
    page = [json.loads(line) for line in run("cluster", "events", str(number), "--limit", "2", "--format", "json").splitlines()]
    rest = [json.loads(line) for line in run("cluster", "events", str(number), "--after", str(page[0]["seq"]), "--format", "json").splitlines()]
    assert len(page) == 2 and rest[0] == page[1]
    assert run("env", "list").startswith("┏")
