"""`ropewalk config`: the file that it writes is the one that Dask reads."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import dask
import pytest
import yaml

from ropewalk.cli.main import main


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(dask.config, "PATH", str(tmp_path / "dask"))
    return tmp_path / "dask" / "ropewalk.yaml"


def test_values_are_set_read_by_dask_and_removed(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["config", "set", "n-workers", "[4, 20]"]) == 0
    assert main(["config", "set", "idle_timeout", "1 hour"]) == 0
    assert yaml.safe_load(file.read_text()) == {"ropewalk": {"n-workers": [4, 20], "idle-timeout": "1 hour"}}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    env = {**os.environ, "DASK_CONFIG": str(file.parent), "DASK_ROPEWALK__IDLE_TIMEOUT": "2 hours"}
    shown = subprocess.run([sys.executable, "-m", "ropewalk", "config", "list"], env=env, capture_output=True, text=True, check=True).stdout
    assert "[4, 20]" in shown and str(file) in shown
    assert "2 hours" in shown and "DASK_ROPEWALK__IDLE_TIMEOUT" in shown
    assert main(["config", "unset", "n-workers"]) == 0
    assert main(["config", "unset", "n-workers"]) == 2
    assert yaml.safe_load(file.read_text()) == {"ropewalk": {"idle-timeout": "1 hour"}}
    capsys.readouterr()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["n-worker", "4"], "did you mean n-workers?"),
        (["token", "rw_x"], "`ropewalk login` stores one"),
        (["loop", "1"], "no argument of ropewalk.Cluster has the name loop"),
        (["n-workers", "[4"], "is no YAML"),
    ],
)
def test_what_would_have_no_effect_is_refused(file: Path, capsys: pytest.CaptureFixture[str], words: list[str], why: str) -> None:
    assert main(["config", "set", *words]) == 2
    assert why in capsys.readouterr().err
    assert not file.exists()


def test_other_sections_stay_and_comments_are_not_lost(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.parent.mkdir()
    file.write_text("distributed:\n  comm: {}\nropewalk:\n  n_workers: 2\n")
    assert main(["config", "set", "n-workers", "3"]) == 0
    assert yaml.safe_load(file.read_text()) == {"distributed": {"comm": {}}, "ropewalk": {"n-workers": 3}}
    file.write_text("# mine\nropewalk:\n  n-workers: 2\n")
    assert main(["config", "set", "n-workers", "3"]) == 2
    assert "has comments" in capsys.readouterr().err and file.read_text().startswith("# mine")
