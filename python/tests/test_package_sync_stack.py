"""Package sync on a real Ropewalk: programs in directories of their own, whose packages and modules are in no index."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

import ropewalk
from ropewalk import batch

pytestmark = pytest.mark.stack

Stack = dict[str, Any]

PROGRAM = """\
import helpers, mine
import ropewalk

with ropewalk.Cluster(n_workers=1, package_sync_ignore=["mypy", "pytest", "hatchling"]) as cluster:
    with cluster.get_client() as client:
        print("value", client.submit(lambda x: helpers.double(mine.value + x), 1).result())
"""


def install_editable(site: Path, directory: Path) -> None:
    """What `pip install -e` leaves: the metadata, and a path."""
    information = site / "mine-0.1.dist-info"
    information.mkdir(parents=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 0.1\n")
    (information / "direct_url.json").write_text(f'{{"url": "file://{directory}", "dir_info": {{"editable": true}}}}')


def run_program(directory: Path, stack: Stack) -> str:
    paths = [str(directory), str(directory / "site"), str(directory / "project"), os.environ.get("PYTHONPATH", "")]
    env = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "ROPEWALK_API_URL": stack["api_url"],
        "ROPEWALK_TOKEN": stack["token"],
        "XDG_CACHE_HOME": str(directory / "cache"),
    }
    done = subprocess.run([sys.executable, "program.py"], cwd=directory, env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_module_beside_the_program_and_an_editable_package_that_changes(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "helpers.py").write_text("def double(x):\n    return 2 * x\n")
    (tmp_path / "project" / "mine").mkdir(parents=True)
    (tmp_path / "project" / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        '[project]\nname = "mine"\nversion = "0.1"\n'
    )
    install_editable(tmp_path / "site", tmp_path / "project")
    for value in (20, 300):
        (tmp_path / "project" / "mine" / "__init__.py").write_text(f"value = {value}\n")
        assert f"value {2 * (value + 1)}" in run_program(tmp_path, stack)


def test_a_python_that_no_instance_has_is_named(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.package_sync.plan.python_version", lambda: "3.99")
    with pytest.raises(ropewalk.ClusterFailedError, match="Python 3.99 is not on this instance"):
        ropewalk.Cluster(n_workers=1, package_sync_only=["toolz"], quiet=True, timeout="5 minutes", **stack)


def test_a_python_task_has_the_packages_of_this_process(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("task.py").write_text("import sys, toolz\nprint(toolz.__version__, sys.prefix != sys.base_prefix)\n")
    import toolz

    only = ["toolz"]
    synced = batch.run("python task.py", package_sync_only=only, name=f"synced-{uuid.uuid4().hex[:8]}", **stack)
    named = batch.run("python task.py", requirements=["toolz==1.0.0"], name=f"named-{uuid.uuid4().hex[:8]}", **stack)
    for job, version in ((synced, toolz.__version__), (named, "1.0.0")):
        assert batch.wait(job["number"], timeout="5 minutes", **stack)["status"] == "done"
        assert [line["text"] for line in batch.logs(job["number"], **stack) if line["task"] is not None] == [f"{version} True"]
