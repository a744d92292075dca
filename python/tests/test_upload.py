"""Directories of `upload`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from stand_in_jobs import JobsStandIn

from ropewalk import batch


def test_what_of_an_uploaded_directory_is_not_sent_is_reported(jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/empty").mkdir(parents=True)
    (tmp_path / "data/dangling").symlink_to("nowhere")
    os.mkfifo(tmp_path / "data/pipe")
    (tmp_path / "data/in.txt").write_text("in")
    (tmp_path / "data/.ropewalk-0a1b2c3d.part").write_text("half of a download")
    with pytest.warns(UserWarning) as caught:
        batch.run("true", upload="data")
    assert [str(one.message) for one in caught] == [
        "not sent of data: dangling (a link to nothing), pipe (neither a file nor a directory), "
        "empty/ (an empty directory: a task that needs it makes it)"
    ]
    [sent] = jobs.sent("/v1/jobs")
    assert [file["path"] for file in sent["files"]] == ["in.txt"]


def test_a_file_whose_name_would_arrive_changed_is_not_sent(jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    for name in (b"data/\xff.txt", "data/\u00fc.txt".encode()):
        Path(os.fsdecode(name)).write_text("in")
    with pytest.warns(UserWarning) as caught:
        batch.run("true", upload="data")
    assert [str(one.message) for one in caught] == ["not sent of data: \\xff.txt (its name is not in UTF-8)"]
    [sent] = jobs.sent("/v1/jobs")
    assert [file["path"] for file in sent["files"]] == ["\u00fc.txt"]


def test_an_uploaded_directory_that_cannot_be_read_ends_the_submission(
    jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A path that is longer than the system allows: rights would not stop root.
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path / "data")
    for _ in range(25):
        os.mkdir("d" * 200)
        os.chdir("d" * 200)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"^upload: cannot read .*: File name too long$"):
        batch.run("true", upload="data")
    assert jobs.sent("/v1/jobs") == []
