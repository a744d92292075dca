"""Words of a command and of its scripts that are no paths: longer than a name of a file may be."""

from __future__ import annotations

from pathlib import Path

import pytest
from stand_in_jobs import JobsStandIn

from ropewalk import batch
from ropewalk.cli.main import main

CODE = f"import os; print('{'x' * 300}')"


def test_a_long_word_of_a_command_is_sent_as_it_is(jobs: JobsStandIn) -> None:
    for words in (["python3", "-c", CODE], ["/" + "x" * 300], ["~" + "x" * 300 + ".py"]):
        batch.run(words, package_sync=False, command_on_instance=True)
        assert jobs.sent("/v1/jobs")[-1]["command"] == words
    with pytest.raises(ValueError, match="does not exist here"):
        batch.run(["/" + "x" * 300], package_sync=False)
    assert main(["batch", "run", "--no-package-sync", f"python3 -c {'x' * 300}"]) == 0


def test_a_long_word_of_a_script_names_no_file(jobs: JobsStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.sh").write_text(f"#!/bin/sh\npython3 -c 'import os; {'x' * 300}'\n")
    batch.run("run.sh", package_sync=False)
    assert [file["path"] for file in jobs.sent("/v1/jobs")[0]["files"]] == ["run.sh"]
