"""The sync of a notebook's files with a server that fails or lies."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hostile_repository import incomplete_repository
from jupyter_stand_in import Answer, Here, JupyterStandIn

from ropewalk.errors import RopewalkError
from ropewalk.notebook import contents, local
from ropewalk.notebook.contents import JupyterFiles, Unavailable
from ropewalk.notebook.local import LocalFiles
from ropewalk.notebook.names import is_synced

HOSTILE = ["../evil", "..", ".", "/etc/evil", "..\\evil", "C:\\evil", "a/../../evil", ".bashrc", ".ssh", "a\0b", "", 7, None, ["x"], {"a": 1}]


def refused(status: int) -> Any:
    return lambda method, path: (status, b"<html>a page</html>") if "/api/" in path else None


@pytest.mark.parametrize("status", [401, 404, 409, 500, 502, 503])
def test_pages_of_the_relay_say_nothing_about_files(jupyter: JupyterStandIn, here: Here, status: int) -> None:
    for name in ("a", "b"):
        here.put(name, b"1")
    here.sync.settle()
    jupyter.instead = refused(status)
    with pytest.raises(Unavailable):
        here.sync.round()
    # Also below the first directory.
    jupyter.put("sub/c", b"1")
    jupyter.instead = lambda method, path: (status, b"<html>a page</html>") if "contents/sub" in path else None
    with pytest.raises(Unavailable):
        here.sync.round()
    jupyter.instead = lambda method, path: None
    here.sync.settle()
    assert here.contents() == {"a": b"1", "b": b"1", "sub/c": b"1"}


def test_an_emptied_server_removes_nothing_here(jupyter: JupyterStandIn, here: Here) -> None:
    here.put("a", b"1")
    here.put("b", b"1")
    here.sync.settle()
    jupyter.files.clear()
    assert here.sync.round().emptied == "there"
    assert here.contents() == {"a": b"1", "b": b"1"}


def test_a_directory_that_is_gone_removes_nothing_there(jupyter: JupyterStandIn, here: Here) -> None:
    here.put("a", b"1")
    here.sync.settle()
    (here.root / "a").unlink()
    here.root.rmdir()
    with pytest.raises(RopewalkError, match="cannot be read"):
        here.sync.round()
    assert jupyter.contents() == {"a": b"1"}


def test_a_partial_download_replaces_nothing(jupyter: JupyterStandIn, here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here.put("a", b"whole")
    here.sync.settle()
    jupyter.put("a", b"a new content")
    part = {"type": "file", "size": 13, "last_modified": "v2", "content": "YSBuZXc=", "name": "a"}
    jupyter.instead = lambda method, path: (200, part) if "format=base64" in path else None
    assert here.sync.round().left == 1
    assert here.contents() == {"a": b"whole"}
    jupyter.instead = lambda method, path: None

    def fail(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(os, "replace", fail)
        with pytest.raises(OSError, match="No space"):
            LocalFiles(here.root).write("a", b"a new content", LocalFiles(here.root).signature("a"))
    assert here.contents() == {"a": b"whole"}
    assert [path.name for path in here.root.iterdir()] == ["a"]
    here.sync.settle()
    assert here.contents() == {"a": b"a new content"}


def test_a_hostile_server_writes_nothing_outside(jupyter: JupyterStandIn, here: Here, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    here.put("kept", b"mine")
    (here.root / "way").symlink_to(outside)
    before = sorted(str(path) for path in tmp_path.rglob("*"))

    # `path` is Jupyter's own field of an entry, which the sync ignores.
    entry = {"path": "../../evil", "size": 4, "last_modified": "v"}
    evil = [{**entry, "name": name, "type": kind} for name in HOSTILE for kind in ("file", "directory")]
    way = {"name": "way", "path": "../../evil", "type": "directory"}
    listing = {"content": [*evil, way, {**entry, "name": "good", "type": "file"}, "no entry", 5, None]}
    below = {"content": [{**entry, "name": "evil", "type": "file"}]}

    def hostile(method: str, path: str) -> Answer | None:
        if "type=directory" in path:
            return 200, below if "contents/way" in path else listing
        if "format=base64" in path:
            return 200, {**entry, "name": "../evil", "content": "ZXZpbA=="}
        return None

    jupyter.instead = hostile
    here.sync.round()
    after = sorted(str(path) for path in tmp_path.rglob("*"))
    new = {path for path in after if path not in before and "/state" not in path}
    assert new == {str(here.root / "good")}
    assert not any(outside.iterdir())
    assert (here.root / "kept").read_bytes() == b"mine"


@pytest.mark.parametrize("path", ["../evil", "/etc/evil", "a/../../evil", "", ".hidden", "way/evil", "a//b", "a\\..\\b"])
def test_no_path_leads_out_of_the_directory(path: str, tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / "way").symlink_to(tmp_path)
    with pytest.raises(RopewalkError):
        LocalFiles(root).write(path, b"evil", None)
    assert [one.name for one in tmp_path.iterdir()] == ["work"]


def test_a_server_without_end_is_given_up(jupyter: JupyterStandIn, here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "_MAX_DIRECTORIES", 30)
    both = [{"name": name, "type": "directory"} for name in ("a", "b")]
    jupyter.instead = lambda method, path: (200, {"content": both}) if "type=directory" in path else None
    with pytest.raises(RopewalkError, match="more than"):
        here.sync.round()
    assert len(jupyter.requests) < 40
    monkeypatch.setattr(contents, "_MAX_LISTING_BYTES", 1_000)
    jupyter.instead = lambda method, path: (200, {"content": ["x" * 2_000]}) if "type=directory" in path else None
    with pytest.raises(RopewalkError, match="has more than"):
        JupyterFiles(jupyter.link)._ask("GET", "", "type=directory", most=1_000)
    monkeypatch.setattr(local, "MAX_FILES", 2)
    for name in ("1", "2", "3"):
        here.put(name, b"x")
    with pytest.raises(RopewalkError, match="has more than 2 files"):
        here.sync.round()


def test_a_redirect_does_not_lead_the_session_elsewhere(jupyter: JupyterStandIn, here: Here) -> None:
    jupyter.instead = lambda method, path: (302, b"") if "/api/" in path else None
    with pytest.raises(Unavailable):
        here.sync.round()


def repository(root: str) -> dict[str, bytes]:
    """Files that git takes for a repository whose configuration names a program."""
    config = f'[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = {root}\n\tfsmonitor = "touch {root}/ran; false"\n'
    return {"HEAD": b"ref: refs/heads/main\n", "config": config.encode(), "objects/a": b"1", "refs/a": b"1"}


def test_a_server_that_sends_a_repository_runs_no_program_here(jupyter: JupyterStandIn, here: Here) -> None:
    here.put("mine.ipynb", b"1")
    for path, content in repository(str(here.root)).items():
        jupyter.put(path, content)
    here.sync.settle()
    assert "config" in here.contents()
    assert not {"HEAD", "ran"} & here.contents().keys()
    # A later git call there is safe too.
    subprocess.run(["git", "-C", str(here.root), "status"], capture_output=True, timeout=60)
    assert not (here.root / "ran").exists()


def test_a_repository_that_lies_in_the_directory_runs_no_program_for_the_sync(here: Here) -> None:
    for path, content in repository(str(here.root)).items():
        here.put(path, content)
    here.put(".gitignore", b"left-out\n")
    assert LocalFiles(here.root).ignored_by_git({"left-out", "config"}) == {"left-out"}
    assert not (here.root / "ran").exists()


@pytest.mark.parametrize("name", ["HEAD", "head", "HE\u200cAD", "\uff28EAD"])
def test_no_name_of_a_repository_is_synced(name: str) -> None:
    assert is_synced("header", ()) and is_synced("config", ())
    assert not is_synced(name, ())


def test_a_repository_that_lies_in_the_directory_fetches_no_missing_object_for_the_sync(here: Here) -> None:
    ran = incomplete_repository(here.root)
    LocalFiles(here.root).ignored_by_git({"left-out", "kept"})
    assert not ran.exists()
    # The same query without the guard runs it.
    command = ["git", "-C", str(here.root), "check-ignore", "--stdin"]
    subprocess.run(command, input=b"left-out", capture_output=True, timeout=60)
    assert ran.exists()
