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


@pytest.mark.parametrize("option", ["upload", "sync"])
@pytest.mark.parametrize(
    ("link", "target", "is_home", "named"),
    [
        ("own/deep/key", "../../../.ssh/id", False, "own/deep/key leads outside the current directory"),
        ("own/keys", "../../.ssh", False, "own/keys leads outside the current directory"),
        ("beside/key", "../../.ssh/id", False, "own/way/key leads outside the current directory"),
        ("own/aws", "../.aws", True, "own/aws leads to a hidden file of your home directory"),
    ],
)
def test_links_in_a_directory_that_the_header_uploads_lead_to_no_place_outside_the_current_directory(
    option: str,
    link: str,
    target: str,
    is_home: bool,
    named: str,
    jobs: JobsStandIn,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    work = tmp_path / "work"
    for path in ("own/deep", "beside", ".aws", "../.ssh"):
        (work / path).mkdir(parents=True)
    (tmp_path / ".ssh" / "id").write_text("secret\n")
    (work / "plain").write_text("plain\n")
    (work / "own" / "plain").symlink_to("../plain")
    (work / "own" / "way").symlink_to("../beside")
    (work / "own" / "loop").symlink_to("loop")
    (work / "own" / "nothing").symlink_to("../../.ssh/none")
    monkeypatch.chdir(work)
    monkeypatch.setattr(Path, "home", lambda: work if is_home else tmp_path)
    (work / "job.sh").write_text(f"#!/bin/sh\n# ROPEWALK {option} own\n")
    # A link to a file of the current directory is followed.
    assert main(["batch", "run", "job.sh"]) == 0
    assert [file["path"] for file in jobs.sent("/v1/jobs")[-1]["files"]] == ["job.sh", "plain"]
    (work / link).symlink_to(target)
    capsys.readouterr()
    assert main(["batch", "run", "job.sh"]) == 2
    said = capsys.readouterr().err
    assert f"the script's header has {option} own, and its link {named}" in said
    assert "--upload own" in said
    assert len(jobs.sent("/v1/jobs")) == 1
    # The user's own option follows links.
    assert main(["batch", "run", "--upload", "own", "job.sh"]) == 0
