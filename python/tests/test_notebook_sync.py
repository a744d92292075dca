"""The sync of a notebook's files in both directions, against a stand-in for Jupyter, with random changes of both sides."""

from __future__ import annotations

import random
import subprocess
from pathlib import Path

import pytest
from jupyter_stand_in import Answer, Here, JupyterStandIn

from ropewalk.notebook import contents, decide


def test_files_come_and_go_in_both_directions(jupyter: JupyterStandIn, here: Here) -> None:
    here.put("one.ipynb", b"mine")
    here.put("sub/deep/x.csv", b"1,2")
    jupyter.put("two.ipynb", b"theirs")
    done = here.sync.settle()
    assert (done.sent, done.fetched, done.conflicts) == (2, 1, 0)
    both = {"one.ipynb": b"mine", "sub/deep/x.csv": b"1,2", "two.ipynb": b"theirs"}
    assert here.contents() == jupyter.contents() == both
    # The sync's reads do not count as a user's activity, which would keep the cluster from becoming idle.
    assert all("no_track_activity=1" in path for method, path in jupyter.requests if method == "GET" and "/api/" in path)

    jupyter.put("one.ipynb", b"changed there")
    here.put("two.ipynb", b"changed here")
    del jupyter.files["sub/deep/x.csv"]
    here.sync.settle()
    assert here.contents() == jupyter.contents() == {"one.ipynb": b"changed there", "two.ipynb": b"changed here"}
    assert "sub/deep/x.csv is removed here, as on the server" in here.said
    (here.root / "two.ipynb").unlink()
    here.sync.settle()
    assert here.contents() == jupyter.contents() == {"one.ipynb": b"changed there"}
    count = len(jupyter.requests)
    assert here.sync.round().is_quiet
    # One listing.
    assert len(jupyter.requests) <= count + 3


def test_random_changes_of_both_sides_lose_nothing(jupyter: JupyterStandIn, tmp_path: Path) -> None:
    paths = ["a.ipynb", "b.csv", "sub/a.ipynb", "sub/more/c"]
    written = 0
    for seed in range(12):
        rng = random.Random(seed)
        jupyter.files.clear()
        here = Here(jupyter, tmp_path / f"work{seed}", tmp_path / "state" / f"{seed}.json")
        # A side without files is another test.
        here.put("kept", b"kept")
        here.sync.settle()
        for _ in range(5):
            before, versions = here.contents(), {path: version for path, (_, version) in jupyter.files.items()}
            for path in paths:
                for side in ("here", "there"):
                    written += 1
                    change = rng.choice(["none", "none", "write", "remove", "same"])
                    if change in ("write", "same"):
                        # "same": both sides write the same content. Sizes differ: changes within one tick of
                        # the clock would not be detected.
                        content = b"x" * (written if change == "write" else 10_000 + 100 * seed + len(path))
                        here.put(path, content) if side == "here" else jupyter.put(path, content)
                    elif change == "remove" and side == "here":
                        (here.root / path).unlink(missing_ok=True)
                    elif change == "remove":
                        jupyter.files.pop(path, None)
            mine, theirs = here.contents(), jupyter.contents()
            touched = {path: version for path, (_, version) in jupyter.files.items()}
            assert here.sync.settle().left == 0
            after = here.contents()
            assert after == jupyter.contents(), f"seed {seed}"
            for path in {*before, *mine, *theirs}:
                was, one, other = before.get(path), mine.get(path), theirs.get(path)
                # Writing the same content again counts as a change on the server: only its version is known.
                is_untouched = other == was and (other is None or touched[path] == versions[path])
                expected = one if is_untouched else other if one in (was, None) else one
                assert after.get(path) == expected, f"seed {seed}: {path}"
                if None not in (one, other) and one != other and was not in (one, other):
                    assert other in [content for name, content in after.items() if ".conflict-" in name], f"seed {seed}: {path}"


def test_a_conflict_keeps_both_and_a_lost_state_is_none(jupyter: JupyterStandIn, here: Here) -> None:
    here.put("one.ipynb", b"mine")
    here.put("two.ipynb", b"alike")
    jupyter.put("one.ipynb", b"theirs")
    jupyter.put("two.ipynb", b"alike")
    done = here.sync.settle()
    assert (done.conflicts, done.sent) == (1, 2)
    (kept,) = [path for path in here.contents() if "conflict" in path]
    assert here.contents() == jupyter.contents() == {"one.ipynb": b"mine", "two.ipynb": b"alike", kept: b"theirs"}
    assert kept.startswith("one.conflict-") and kept.endswith(".ipynb")
    here.file.unlink()
    assert here.sync.settle().is_quiet
    here.file.write_text("{damaged")
    assert here.sync.settle().is_quiet


def test_a_killed_process_goes_on_where_it_was(jupyter: JupyterStandIn, here: Here, tmp_path: Path) -> None:
    here.put("one.ipynb", b"first")
    here.sync.settle()
    # Sent, and killed before the state was saved.
    noted = here.file.read_text()
    here.put("one.ipynb", b"second!")
    here.sync.settle()
    here.file.write_text(noted)
    again = Here(jupyter, here.root, here.file)
    assert again.sync.settle().is_quiet
    assert again.contents() == {"one.ipynb": b"second!"}


def test_large_files_are_sent_in_pieces(jupyter: JupyterStandIn, here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "PIECE_BYTES", 10)
    here.put("data", bytes(range(35)))
    here.put("none", b"")
    here.sync.settle()
    assert jupyter.contents() == {"data": bytes(range(35)), "none": b""}
    assert len([path for method, path in jupyter.requests if method == "PUT" and path.endswith("/data")]) == 4


def test_what_is_left_out_stays_where_it_is(jupyter: JupyterStandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decide, "MAX_FILE_BYTES", 1_000)
    here = Here(jupyter, tmp_path / "work", tmp_path / "s" / "one.json", "scratch")
    subprocess.run(["git", "init", "-q", str(here.root)], check=True)
    for path in (".env", "venv/x.py", "own/lib.py", "own/pyvenv.cfg", "scratch/x", "kept.txt", "secret.key", "out/x.log"):
        here.put(path, b"x")
    here.put(".gitignore", b"*.key\nout/\n")
    here.put("big.bin", b"b" * 1_001)
    (tmp_path / "outside").mkdir()
    (here.root / "link").symlink_to(tmp_path / "outside")
    (here.root / "passwd").symlink_to("/etc/passwd")
    jupyter.put("link/inside.txt", b"theirs")
    jupyter.put("passwd", b"root::0:0")
    jupyter.put("large.bin", b"b" * 1_002)
    jupyter.put("other.key", b"theirs")
    done = here.sync.settle()
    assert {path for path in jupyter.contents() if path not in ("link/inside.txt", "passwd", "large.bin", "other.key")} == {"kept.txt"}
    assert not any((tmp_path / "outside").iterdir())
    assert not (here.root / "large.bin").exists() and not (here.root / "other.key").exists()
    assert "big.bin is left out: it has 0 MiB, and a file may have 25 MiB" not in here.said
    assert any(line.startswith("big.bin is left out") for line in here.said)
    assert any(line.startswith("passwd is left out") for line in here.said)
    assert done.only_there == ["large.bin", "link/inside.txt", "passwd"]
    # No message is repeated.
    count = len(here.said)
    here.sync.round()
    assert len(here.said) == count


def test_without_a_repository_the_ignored_names_of_the_directory_hold(jupyter: JupyterStandIn, here: Here) -> None:
    here.put(".gitignore", b"*.key\n")
    here.put("a.key", b"x")
    here.put("a.txt", b"x")
    here.sync.settle()
    assert [*jupyter.contents()] == ["a.txt"]


def test_a_file_that_grew_beyond_the_limit_is_not_taken_for_removed(
    jupyter: JupyterStandIn, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.put("a", b"1")
    here.put("b", b"1")
    here.sync.settle()
    monkeypatch.setattr(decide, "MAX_FILE_BYTES", 100)
    jupyter.put("a", b"1" * 200)
    here.put("b", b"1" * 200)
    here.sync.settle()
    assert (here.contents()["a"], jupyter.contents()["b"]) == (b"1", b"1")


def test_a_file_in_the_place_of_a_directory_is_left_out(jupyter: JupyterStandIn, here: Here) -> None:
    here.put("data", b"a file")
    jupyter.put("data/x", b"below a directory")
    here.sync.settle()
    assert here.contents() == {"data": b"a file"}
    assert "data/x is left out: data is a file here" in here.said


def test_a_session_that_has_ended_is_begun_again(jupyter: JupyterStandIn, here: Here) -> None:
    here.put("a", b"1")
    here.sync.settle()
    jupyter.session += 1
    jupyter.put("b", b"2")
    here.sync.settle()
    assert here.contents() == {"a": b"1", "b": b"2"}


def test_a_file_that_changes_during_a_round_is_not_overwritten(
    jupyter: JupyterStandIn, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    here.put("a", b"1")
    here.sync.settle()
    jupyter.put("a", b"theirs")

    def edit_meanwhile(method: str, path: str) -> Answer | None:
        if "format=base64" in path:
            here.put("a", b"edited meanwhile")
        return None

    jupyter.instead = edit_meanwhile
    assert here.sync.round().left == 1
    assert here.contents() == {"a": b"edited meanwhile"}
    jupyter.instead = lambda method, path: None
    here.sync.settle()
    assert sorted(here.contents().values()) == [b"edited meanwhile", b"theirs"]

    # The same on the other side.
    here.put("b", b"mine")

    def edit_there(method: str, path: str) -> Answer | None:
        if "/b?type=file&content=0" in path:
            jupyter.put("b", b"theirs")
        return None

    jupyter.instead = edit_there
    assert here.sync.round().left == 1
    jupyter.instead = lambda method, path: None
    here.sync.settle()
    assert [here.contents()["b"], jupyter.contents()["b"]] == [b"mine", b"mine"]
    assert b"theirs" in [content for path, content in here.contents().items() if path.startswith("b.conflict-")]


HOSTILE = ["../evil", "..", ".", "/etc/evil", "..\\evil", "C:\\evil", "a/../../evil", ".bashrc", ".ssh", "a\0b", "", 7, None, ["x"], {"a": 1}]
