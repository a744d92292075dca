"""`ropewalk.Notebook`, with a stand-in for the API and for Jupyter."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jupyter_stand_in import JupyterStandIn
from stand_in import TOKEN

import ropewalk

Make = Callable[..., ropewalk.Notebook]


@pytest.fixture
def make(jupyter: JupyterStandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Make:
    """In a directory of its own; the files' directory is `files`."""
    monkeypatch.setattr("ropewalk.notebook.launch.make_software", lambda *_, **__: {"requirements": ["dask==1"], "pinned": True})
    (tmp_path / "files").mkdir()
    monkeypatch.chdir(tmp_path)
    return lambda *names, **options: ropewalk.Notebook(*names, api_url=jupyter.url, token=TOKEN, **options)


def test_it_starts_gives_a_link_and_stops(jupyter: JupyterStandIn, make: Make, capsys: Any) -> None:
    with make("analysis", scheduler_memory="8 GiB", environ={"KEY": "secret"}, idle_timeout="1h") as notebook:
        assert (notebook.number, notebook.link(), repr(notebook)) == (1, jupyter.link(), "<Notebook analysis: cluster 1>")
        assert jupyter.stopped == []
    assert jupyter.created == [
        {
            **{"name": "notebook-analysis", "getOrCreate": False, "jupyter": True, "privateToCreator": True},
            **{"workers": 0, "extraWorkerOnScheduler": True, "idleTimeout": 3_600.0, "schedulerMemory": "8 GiB"},
            "secretEnv": {"KEY": "secret"},
            "software": {"requirements": ["dask==1", "jupyterlab>=4"], "pinned": True},
        }
    ]
    assert jupyter.stopped == [1]
    said = capsys.readouterr()
    assert said.out == "" and "Notebook analysis is created (cluster 1)" in said.err and "secret" not in said.err


def test_files_go_there_and_come_back(jupyter: JupyterStandIn, make: Make, tmp_path: Path) -> None:
    (tmp_path / "files/one.ipynb").write_bytes(b"mine")
    (tmp_path / "files/data.bin").write_bytes(b"large")
    with make("synced", sync=tmp_path / "files", sync_ignore=["data.bin"], quiet=True) as notebook:
        assert jupyter.contents() == {"one.ipynb": b"mine"}
        jupyter.put("two.ipynb", b"theirs")
        notebook.sync_files()
        assert (tmp_path / "files/two.ipynb").read_bytes() == b"theirs"
        jupyter.put("late.ipynb", b"late")
    assert (tmp_path / "files/late.ipynb").read_bytes() == b"late"
    assert jupyter.stopped == [1]


def test_a_last_sync_that_fails_stops_nothing(jupyter: JupyterStandIn, make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ropewalk.notebook.session._OUTAGE_S", 0)
    notebook = make("kept", sync=tmp_path / "files", quiet=True).start()
    jupyter.instead = lambda method, path: (502, b"", {"Content-Type": "text/html"}) if "/api/contents" in path else None
    with pytest.raises(ropewalk.RopewalkError, match="sync failed"):
        notebook.stop()
    assert jupyter.stopped == []
    notebook.stop(sync=False)
    assert jupyter.stopped == [1]


def test_an_open_one_is_used_and_goes_on_after_a_block(jupyter: JupyterStandIn, make: Make) -> None:
    make("one", quiet=True).start()
    with make("one", quiet=True) as again:
        assert again.number == 1
    assert (len(jupyter.created), jupyter.stopped) == (1, [])
    assert [one["name"] for one in ropewalk.list_notebooks(api_url=jupyter.url, token=TOKEN)] == ["notebook-one"]
    # Without a start: it is found by its name.
    assert make("one", quiet=True).link() == jupyter.link()
    make("one", quiet=True).stop()
    assert jupyter.stopped == [1]


def test_one_of_another_user_and_one_that_is_not_open(jupyter: JupyterStandIn, make: Make) -> None:
    with pytest.raises(ropewalk.RopewalkError, match="No open notebook has the name one"):
        make("one").link()
    make("one", quiet=True).start()
    jupyter.user = "bob"
    with pytest.raises(ropewalk.RopewalkError, match="The notebook one is bob's"):
        make("one").start()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"sync": "nowhere"}, NotADirectoryError, "nowhere is no directory"),
        ({"sync": "/"}, ValueError, "/ is too much"),
        ({"sync_ignore": "data"}, TypeError, "sync_ignore is 'data': give a list"),
        ({"software": "a", "container": "b"}, ValueError, "software and container both"),
        ({"software": "a", "package_sync_ignore": ["torch"]}, ValueError, "software and container replace package sync"),
        ({"idle_timeout": "soon"}, ValueError, "idle_timeout is 'soon'"),
        ({"regoin": "us-west-2"}, TypeError, "'regoin' is not a keyword argument: did you mean 'region'"),
        ({"n_workers": -1}, ValueError, "workers"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_request(
    jupyter: JupyterStandIn, make: Make, options: Any, error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        make("one", **options)
    assert jupyter.requests == []


def test_what_the_server_says_has_nothing_that_a_terminal_obeys(
    jupyter: JupyterStandIn, make: Make, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "files/one.ipynb").write_bytes(b"mine")
    answer = {"message": "no\x1b]52;c;aGk=\x07\x1b[2J way\u202e"}
    jupyter.instead = lambda method, path: (403, answer) if method == "PUT" else None
    notebook = make("loud", sync=tmp_path / "files").start()
    said = capsys.readouterr().err
    assert "one.ipynb cannot be synced: Jupyter refused PUT of one.ipynb (HTTP status 403: no way)." in said
    assert "\x1b" not in said and "\u202e" not in said
    notebook.stop(sync=False)


def test_a_message_of_an_error_has_nothing_that_a_terminal_obeys() -> None:
    error = ropewalk.RopewalkError("Rejected by eve: \x1b]0;title\x07no\nSecond line", code="REJECTED", hint="\x1b[2JHint")
    assert (error.message, error.hint) == ("Rejected by eve: no\nSecond line", "Hint")
    assert str(error) == "Rejected by eve: no\nSecond line Hint [REJECTED]"
