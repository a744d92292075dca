"""`ropewalk notebook`, with a stand-in for the API and for Jupyter: its requests, output and exit codes."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jupyter_stand_in import JupyterStandIn
from stand_in import TOKEN
from support import eventually

from ropewalk.cli import browser
from ropewalk.cli.main import main
from ropewalk.notebook import session, state
from ropewalk.notebook.start import default_name, with_jupyterlab

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def ropewalk(
    jupyter: JupyterStandIn, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Run:
    """Runs a command line in an empty directory: the exit code, standard output and standard error."""
    monkeypatch.setenv("ROPEWALK_API_URL", jupyter.url)
    monkeypatch.setenv("ROPEWALK_TOKEN", TOKEN)
    monkeypatch.setattr(session, "ROUND_S", 0.05)
    monkeypatch.setattr("ropewalk.notebook.launch.make_software", lambda *_, **__: {"requirements": ["dask==1"], "pinned": True})
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")

    def run(*words: str) -> tuple[int, str, str]:
        code = main(words)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def interrupt_when(is_so: Callable[[], Any]) -> threading.Thread:
    """Ctrl-C, as soon as a condition holds."""

    def watch() -> None:
        eventually(is_so)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def is_followed(jupyter: JupyterStandIn) -> bool:
    """The first sync has ended: it needs a link, and the user's link comes after it."""
    return sum(path.endswith("/jupyter-link") for _, path in jupyter.requests) > 1


def test_a_notebook_is_a_private_cluster_of_one_instance_with_this_environment(jupyter: JupyterStandIn, ropewalk: Run) -> None:
    code, out, err = ropewalk(
        *("notebook", "start", "analysis", "--detach", "--vm-type", "a,b", "--memory", "8 GiB", "--gpu", "--region", "us-west-2"),
        *("--disk-size", "100", "-e", "MODE=fast", "--secret-env", "KEY=secret", "--tag", "team=weather", "--max-lifetime", "2 days"),
    )
    assert (code, out) == (0, f"{jupyter.link()}\n")
    assert jupyter.created == [
        {
            **{"name": "notebook-analysis", "getOrCreate": False, "jupyter": True, "privateToCreator": True},
            **{"workers": 0, "extraWorkerOnScheduler": True, "idleTimeout": 14_400.0, "maxLifetime": 172_800.0},
            **{"schedulerVmTypes": ["a", "b"], "schedulerMemory": "8 GiB", "schedulerGpu": True, "schedulerDiskSize": "100 GiB"},
            **{"region": "us-west-2", "tags": {"team": "weather"}, "env": {"MODE": "fast"}, "secretEnv": {"KEY": "secret"}},
            "software": {"requirements": ["dask==1", "jupyterlab>=4"], "pinned": True},
        }
    ]
    assert "jupyterlab is added, because this environment has none" in err
    assert "Stop it:      ropewalk notebook stop analysis" in err
    assert "secret" not in err


def test_workers_have_machines_of_their_own(jupyter: JupyterStandIn, ropewalk: Run) -> None:
    assert ropewalk("notebook", "start", "--detach", "--shared", "--workers", "2", "--cpu", "4", "--software", "geo")[0] == 0
    (body,) = jupyter.created
    assert (body["workers"], body["workerCpu"], body["schedulerCpu"], body["softwareName"]) == (2, 4, 4, "geo")
    assert (body["privateToCreator"], "software" in body, "extraWorkerOnScheduler" in body) == (False, False, False)
    assert body["name"] == f"notebook-{default_name(Path.cwd())}"
    assert body["name"].startswith("notebook-work-")


def test_jupyterlab_is_added_unless_it_is_there() -> None:
    assert with_jupyterlab({"requirements": ["jupyterlab==4.2"]}) == ({"requirements": ["jupyterlab==4.2"]}, False)
    own = {"requirements": [], "packageFiles": [{"name": "jupyterlab-4.2-py3-none-any.whl", "sha256": "x"}]}
    assert with_jupyterlab(own) == (own, False)
    left_out = {"requirements": ["jupyterlab ; sys_platform == 'never'", "jupyterlab-server==2"]}
    assert with_jupyterlab(left_out) == ({"requirements": ["jupyterlab-server==2", "jupyterlab>=4"]}, True)


def test_ctrl_c_syncs_a_last_time_and_stops(jupyter: JupyterStandIn, ropewalk: Run) -> None:
    Path("one.ipynb").write_bytes(b"mine")
    jupyter.put("two.ipynb", b"theirs")

    def is_synced() -> bool:
        if "one.ipynb" not in jupyter.files or not Path("two.ipynb").exists():
            return False
        jupyter.put("last.ipynb", b"the last one")
        return True

    thread = interrupt_when(is_synced)
    code, out, err = ropewalk("notebook", "start", "--sync", "--no-open")
    thread.join()
    assert (code, jupyter.stopped) == (0, [1])
    assert Path("last.ipynb").read_bytes() == b"the last one"
    assert "two.ipynb <- server" in err and "one.ipynb -> server" in err
    assert "Notebook" in err and "is stopping." in err
    assert not any(state.state_directory().glob("*.json"))


def test_a_last_sync_that_fails_stops_nothing(
    jupyter: JupyterStandIn, ropewalk: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "_OUTAGE_S", 0.1)
    monkeypatch.setattr(session, "_RETRY_S", 0.02)
    Path("one.ipynb").write_bytes(b"mine")

    def breaks() -> bool:
        if is_followed(jupyter):
            jupyter.instead = lambda method, path: (503, b"<html>away</html>") if "/api/" in path else None
        return is_followed(jupyter)

    thread = interrupt_when(breaks)
    code, _, err = ropewalk("notebook", "start", "one", "--sync", "--no-open")
    thread.join()
    assert (code, jupyter.stopped) == (1, [])
    assert "The last sync failed: Jupyter does not answer (HTTP status 503)" in err
    assert "ropewalk notebook stop one --no-sync" in err
    assert ropewalk("notebook", "stop", "one")[0] == 1
    assert ropewalk("notebook", "stop", "one", "--no-sync")[0] == 0
    assert jupyter.stopped == [1]


def test_the_sync_goes_on_after_an_outage_until_the_cluster_ends(jupyter: JupyterStandIn, ropewalk: Run) -> None:
    def play() -> None:
        eventually(lambda: is_followed(jupyter))
        jupyter.instead = lambda method, path: (503, b"<html>away</html>") if "/api/" in path else None
        Path("two").write_bytes(b"2")
        count = len(jupyter.requests)
        eventually(lambda: len(jupyter.requests) > count + 5)
        jupyter.instead = lambda method, path: None
        eventually(lambda: "two" in jupyter.files)
        jupyter.status = "stopped"
        jupyter.instead = lambda method, path: (404, b"<html>no Jupyter</html>") if "/api/" in path else None

    Path("one").write_bytes(b"1")
    thread = threading.Thread(target=play)
    thread.start()
    code, _, err = ropewalk("notebook", "start", "--sync", "--no-open")
    thread.join()
    assert (code, jupyter.stopped) == (1, [])
    assert "The sync waits: Jupyter does not answer (HTTP status 503)\n" in err
    assert "It goes on.\n" in err
    assert "error: Cluster 1 has ended: nothing was computed for 4 hours" in err
    assert Path("one").read_bytes() == b"1"


def test_an_open_notebook_is_used_again_and_one_of_another_user_is_not(jupyter: JupyterStandIn, ropewalk: Run) -> None:
    assert ropewalk("notebook", "start", "one", "--detach", "--sync", ".")[0] == 0
    code, _, err = ropewalk("notebook", "start", "--name", "one", "--detach")
    assert (code, len(jupyter.created)) == (0, 1)
    assert "Notebook one is open already (cluster 1)" in err
    assert f"to go on: --sync {Path.cwd()}" in err
    assert "│ one  │       1 │ ready │" in ropewalk("notebook", "list")[1]
    assert ropewalk("notebook", "link", "one")[1] == f"{jupyter.link()}\n"
    assert json.loads(ropewalk("notebook", "link", "one", "--format", "json")[1])["url"] == jupyter.link()
    # With the previously synced directory.
    jupyter.put("late.ipynb", b"late")
    code, _, err = ropewalk("notebook", "stop", "one")
    assert (code, jupyter.stopped, Path("late.ipynb").read_bytes()) == (0, [1], b"late")
    jupyter.stopped.clear()
    jupyter.user = "bob"
    code, _, err = ropewalk("notebook", "start", "one", "--detach")
    assert (code, "error: The notebook one is bob's." in err) == (1, True)
    assert ropewalk("notebook", "stop", "other")[0] == 1


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sync", "nowhere"], "--sync: nowhere is no directory"),
        (["--sync", "/"], "--sync: / is too much"),
        (["--sync-ignore", "data"], "--sync-ignore: needs --sync"),
        (["--software", "a", "--container", "b"], "--software and --container both"),
        (["--software", "a", "--package-sync-strict"], "--software replaces package sync"),
        (["--idle-timeout", "soon"], "--idle-timeout is 'soon'"),
        (["one", "--name", "two"], "the argument NAME and --name differ"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_starts(
    jupyter: JupyterStandIn, ropewalk: Run, words: list[str], said: str
) -> None:
    code, out, err = ropewalk("notebook", "start", *words)
    assert (code, out, jupyter.created) == (2, "", [])
    assert said in err


def test_a_browser_gets_no_token_on_its_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", lambda url, new: opened.append(url) or True)
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    browser.open_browser("http://a/?link=secret", is_asked=False)
    assert opened == []
    browser.open_browser("http://a/?link=secret&b=c", is_asked=True)
    (url,) = opened
    assert "secret" not in url
    file = Path(url.removeprefix("file://"))
    assert 'content="0;url=http://a/?link=secret&amp;b=c"' in file.read_text()
    assert file.stat().st_mode & 0o077 == 0
