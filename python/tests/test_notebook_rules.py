"""The decisions of the sync of a notebook's files: the names it accepts, and the state it stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ropewalk.notebook import decide, names, state
from ropewalk.notebook.decide import Synced, conflict_path, make_plan, too_large

MiB = 1024 * 1024


@pytest.mark.parametrize(
    ("synced", "now_here", "now_there", "action"),
    [
        (None, None, None, None),
        (None, "a", None, "send"),
        (None, None, "1", "fetch"),
        (None, "a", "1", "compare"),
        ("a1", "a", "1", None),
        ("a1", "b", "1", "send"),
        ("a1", "a", "2", "fetch"),
        ("a1", "b", "2", "compare"),
        ("a1", None, "1", "remove_there"),
        ("a1", "a", None, "remove_here"),
        # A changed file takes precedence over a removal.
        ("a1", None, "2", "fetch"),
        ("a1", "b", None, "send"),
        ("a1", None, None, "forget"),
    ],
)
def test_a_file_of_both_sides_is_compared_with_the_last_round(
    synced: str | None, now_here: str | None, now_there: str | None, action: str | None
) -> None:
    assert decide.decide(None if synced is None else Synced("a", None, "1"), now_here, now_there) == action


def test_nothing_is_decided_about_what_is_left_out() -> None:
    synced = {"big": Synced("a", None, "1"), "x": Synced("a", None, "1"), "y": Synced("a", None, "1")}
    assert make_plan(synced, {"x": "a", "y": "a"}, {"x": "1", "y": "1"}, {"big"}).actions == {}


def test_a_side_that_has_lost_all_files_removes_none_of_the_other() -> None:
    synced = {"x": Synced("a", None, "1"), "y": Synced("a", None, "1")}
    plan = make_plan(synced, {"x": "a", "y": "b"}, {}, set())
    assert (plan.emptied, plan.actions) == ("there", {"y": "send"})
    assert make_plan(synced, {}, {"x": "1", "y": "1"}, set()).emptied == "here"
    # One that remains, as if on purpose.
    assert make_plan(synced, {"x": "a", "y": "a"}, {"x": "1"}, set()).actions == {"y": "remove_here"}
    assert make_plan(synced, {}, {"x": "1", "y": "1"}, {"large.bin"}).actions == {"x": "remove_there", "y": "remove_there"}


def test_files_beyond_the_limits_are_named_and_synced_ones_stay() -> None:
    sizes = {"old": 24 * MiB, "huge": 26 * MiB, "small": 1, **{f"n{count}": 20 * MiB for count in range(10)}}
    left = too_large(sizes, {"old"})
    assert left["huge"] == "it has 26 MiB, and a file may have 25 MiB"
    assert sorted(left) == ["huge", "n8", "n9"]
    assert left["n9"] == "all files together may have 200 MiB"


def test_names_of_conflicts_keep_their_kind() -> None:
    assert conflict_path("a/one.ipynb", "T") == "a/one.conflict-T.ipynb"
    assert conflict_path("Makefile", "T") == "Makefile.conflict-T"


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/etc", "a\\b", "C:\\x", "a\0", "a\nb", "a\x1b[2J", "\ud800", "x" * 256, 7, None])
def test_a_name_that_is_none_is_refused(name: Any) -> None:
    assert not names.is_plain(name)


def test_hidden_files_caches_and_ignored_names_are_not_synced() -> None:
    assert all(names.is_synced(name, ["data"]) for name in ("one.ipynb", "été.csv", "a b", "data2"))
    assert not any(names.is_synced(name, ["data"]) for name in (".env", ".venv", ".git", "__pycache__", "a.pyc", "data", ".."))


def test_the_state_is_of_one_cluster_and_directory(tmp_path: Path) -> None:
    files = {state.state_file(url, number, Path(place)) for url in ("http://a", "http://b") for number in (1, 11) for place in ("/x", "/y")}
    assert len(files) == 8
    one, other = state.state_file("http://a", 1, tmp_path), state.state_file("http://a", 11, tmp_path)
    for file in (one, other):
        with state.alone(file):
            state.save(file, tmp_path, {"x": Synced("a", (1, 2), "v")})
    assert state.load(one) == {"x": Synced("a", (1, 2), "v")}
    assert state.synced_directories("http://a", 1) == [tmp_path]
    state.forget("http://a", 1)
    assert (one.exists(), other.exists()) == (False, True)
