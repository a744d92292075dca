"""Files of this machine that the header of a script names."""

from __future__ import annotations

from pathlib import Path

import pytest
from stand_in_jobs import JobsStandIn

from ropewalk.cli.main import main

@pytest.mark.parametrize(
    ("line", "is_home"),
    [
        (f"{option} {path}", False)
        for option in ("download", "sync", "upload")
        for path in ("../.ssh", "..", "way/.ssh", "way/new")
    ]
    + [(f"{option} ../.ssh/id", False) for option in ("env-file", "secret-env-file", "map-over-file", "host-setup-script")]
    + [(line, True) for line in ("download .", "download .ssh", "upload .ssh", "env-file .ssh/id")],
)
def test_the_header_of_a_script_names_no_place_outside_the_current_directory(
    line: str, is_home: bool, jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "work"
    (tmp_path / ".ssh").mkdir()
    (tmp_path / ".ssh" / "id").write_text("A=secret\n")
    work.mkdir()
    (work / "way").symlink_to(tmp_path)
    here = tmp_path if is_home else work
    monkeypatch.chdir(here)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    (here / "job.sh").write_text(f"#!/bin/sh\n# ROPEWALK {line}\n")
    assert main(["batch", "run", "job.sh"]) == 2
    assert "give it yourself" in capsys.readouterr().err
    assert jobs.sent("/v1/jobs") == []


@pytest.mark.parametrize(
    ("line", "directory"),
    [("upload me/.ssh", ""), ("upload me", ""), ("upload .", ""), ("env-file me/.ssh/id", ""), ("env-file id", "me/.ssh")],
)
def test_the_header_of_a_script_names_no_hidden_file_of_the_home_directory_from_elsewhere(
    line: str, directory: str, jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "me"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text("A=secret\n")
    monkeypatch.chdir(tmp_path / directory)
    monkeypatch.setattr(Path, "home", lambda: home)
    (tmp_path / directory / "job.sh").write_text(f"#!/bin/sh\n# ROPEWALK {line}\n")
    assert main(["batch", "run", "job.sh"]) == 2
    assert "give it yourself" in capsys.readouterr().err
    assert jobs.sent("/v1/jobs") == []
