"""`ropewalk notebook` with a running Ropewalk and a real Jupyter server: test/python/notebook.full.test.ts runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support import eventually
from tornado.httpclient import HTTPRequest
from tornado.ioloop import IOLoop
from tornado.websocket import websocket_connect

import ropewalk
from ropewalk.batch.paths import connect
from ropewalk.client_api import ClientApi
from ropewalk.notebook import start
from ropewalk.notebook.contents import JupyterFiles
from ropewalk.notebook.local import ChangedMeanwhile

pytestmark = [pytest.mark.stack, pytest.mark.full]

NOTEBOOK: dict[str, Any] = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
#: The environment of these tests, without its tools, and with Jupyter's packages.
START = (sys.executable, "-m", "ropewalk", "notebook")
MINUTES_S = 60


class Command:
    """A process of `ropewalk notebook start`; `said` is its stderr so far."""

    def __init__(self, directory: Path, environment: dict[str, str], *words: str) -> None:
        self.log = directory.parent / f"{len(list(directory.parent.glob('*.log')))}.log"
        with open(self.log, "w") as log:
            self.process = subprocess.Popen([*START, *words], cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=log)

    @property
    def said(self) -> str:
        return self.log.read_text()

    def until(self, text: str, within_s: float = 4 * MINUTES_S) -> None:
        eventually(lambda: text in self.said or self.process.poll() is not None, within_s)
        assert text in self.said, self.said

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(2 * MINUTES_S)


@pytest.fixture
def place(stack: dict[str, Any], tmp_path: Path) -> Iterator[tuple[Path, dict[str, str], ClientApi]]:
    """A directory, the environment of commands, and the API."""
    work = tmp_path / "work"
    work.mkdir()
    own = {"ROPEWALK_API_URL": stack["api_url"], "ROPEWALK_TOKEN": stack["token"], "ROPEWALK_HOME": str(tmp_path / "home")}
    api = connect(stack["api_url"], stack["token"])
    yield work, {**os.environ, **own}, api
    for one in start.list_notebooks(api):
        start.stop(api, one["number"])
    eventually(lambda: not start.list_notebooks(api), 2 * MINUTES_S)


def files_of(api: ClientApi, number: int) -> JupyterFiles:
    return JupyterFiles(lambda: start.link(api, number)["url"])


def has(jupyter: JupyterFiles, path: str, content: bytes) -> bool:
    """A file that is being written counts as another one."""
    try:
        return jupyter.read(path)[0] == content
    except ChangedMeanwhile:
        return False


def number_of(api: ClientApi, name: str) -> int:
    found = start.find(api, name)
    assert found is not None
    return found["number"]


def run_in_kernel(jupyter: JupyterFiles, code: str) -> None:
    """As JupyterLab runs a cell."""

    async def run() -> None:
        root = f"{jupyter._origin}{jupyter._root}api/kernels"
        headers = {"Cookie": jupyter._cookie, "Origin": jupyter._origin}
        request = f"{root}/{kernel}/channels?session_id=one".replace("http", "ws", 1)
        socket = await websocket_connect(HTTPRequest(request, headers=headers))
        header = {"msg_id": "m1", "session": "one", "username": "ada", "msg_type": "execute_request", "version": "5.3", "date": ""}
        content = {"code": code, "silent": False, "store_history": False, "user_expressions": {}, "allow_stdin": False}
        rest = {"parent_header": {}, "metadata": {}, "buffers": [], "channel": "shell"}
        await socket.write_message(json.dumps({"header": header, "content": content, **rest}))
        while (text := await socket.read_message()) is not None:
            message = json.loads(text)
            if message["parent_header"].get("msg_id") == "m1" and message["msg_type"] == "execute_reply":
                assert message["content"]["status"] == "ok", message["content"]
                socket.close()
                return
        raise AssertionError("the kernel's connection was lost")

    jupyter.listing()
    status, _, answer = jupyter._once("POST", f"{jupyter._root}api/kernels", {"path": "one.ipynb"}, 100_000)
    assert status == 201, answer
    kernel = json.loads(answer)["id"]
    IOLoop(make_current=False).run_sync(run, timeout=2 * MINUTES_S)


def test_a_notebook_from_start_to_end(place: tuple[Path, dict[str, str], ClientApi]) -> None:
    work, environment, api = place
    (work / "one.ipynb").write_text(json.dumps(NOTEBOOK))
    (work / "helper.py").write_text("ANSWER = 39\n")
    command = Command(work, environment, "start", "whole", "--sync", "--no-open")
    command.until("Press Ctrl-C")
    assert "jupyterlab is added, because this environment has none" in command.said
    # The files are synced: a module among them is not part of the environment, which would keep its old
    # content.
    assert "module" not in command.said
    jupyter = files_of(api, number_of(api, "whole"))
    assert json.loads(jupyter.read("one.ipynb")[0]) == NOTEBOOK

    # The server's changes are synced back; a kernel has the files, the environment, and a worker.
    changed = {**NOTEBOOK, "metadata": {"changed": True}}
    jupyter.write("one.ipynb", json.dumps(changed).encode(), jupyter.version("one.ipynb"))
    run_in_kernel(
        jupyter,
        "import distributed, helper, pathlib\n"
        "total = distributed.Client().submit(sum, [1, 2, helper.ANSWER]).result(60)\n"
        "pathlib.Path('results').mkdir()\n"
        "pathlib.Path('results/total.txt').write_text(str(total))\n",
    )
    eventually(lambda: (work / "results/total.txt").exists(), MINUTES_S)
    assert (work / "results/total.txt").read_text() == "42"
    eventually(lambda: json.loads((work / "one.ipynb").read_text()) == changed, MINUTES_S)

    # Both sides change a file between two rounds: both are kept.
    command.process.send_signal(signal.SIGSTOP)
    jupyter.write("helper.py", b"ANSWER = 'theirs'\n", jupyter.version("helper.py"))
    (work / "helper.py").write_text("ANSWER = 'mine'\n")
    command.process.send_signal(signal.SIGCONT)
    eventually(lambda: any(work.glob("helper.conflict-*.py")), MINUTES_S)
    eventually(lambda: has(jupyter, "helper.py", b"ANSWER = 'mine'\n"), MINUTES_S)
    (kept,) = work.glob("helper.conflict-*.py")
    assert (kept.read_text(), (work / "helper.py").read_text()) == ("ANSWER = 'theirs'\n", "ANSWER = 'mine'\n")

    (work / "last.txt").write_text("from here")
    jupyter.write("results/last.txt", b"from there", None)
    number = number_of(api, "whole")
    assert command.end(signal.SIGINT) == 0, command.said
    assert (work / "results/last.txt").read_text() == "from there"
    assert "Notebook whole is stopping." in command.said
    eventually(lambda: start.read(api, number)["status"] == "stopped", 2 * MINUTES_S)


def test_a_killed_command_leaves_the_notebook_to_the_next_one_and_to_its_idle_timeout(
    place: tuple[Path, dict[str, str], ClientApi],
) -> None:
    work, environment, api = place
    (work / "one.ipynb").write_text(json.dumps(NOTEBOOK))
    words = ("start", "left", "--sync", "--no-open", "--idle-timeout", "40 seconds")
    first = Command(work, environment, *words)
    first.until("Press Ctrl-C")
    number = number_of(api, "left")
    first.end(signal.SIGKILL)
    # Jupyter is there before the agent's next report makes the cluster ready.
    eventually(lambda: start.read(api, number)["status"] == "ready", MINUTES_S)

    (work / "after.txt").write_text("written after the kill")
    jupyter = files_of(api, number)
    jupyter.write("there.txt", b"written after the kill", None)
    second = Command(work, environment, *words)
    second.until("Press Ctrl-C")
    assert f"Notebook left is open already (cluster {number})" in second.said
    assert (work / "there.txt").read_text() == "written after the kill"
    assert jupyter.read("after.txt")[0] == b"written after the kill"

    # The sync's rounds do not count as use of Jupyter: the notebook becomes idle and ends, the files stay.
    assert second.process.wait(4 * MINUTES_S) == 1
    assert f"Cluster {number} " in second.said and "What was synced before is here." in second.said
    eventually(lambda: start.read(api, number)["status"] == "stopped", 2 * MINUTES_S)
    assert (start.read(api, number)["reason"] or {})["code"] == "IDLE"
    assert sorted(path.name for path in work.iterdir()) == ["after.txt", "one.ipynb", "there.txt"]


def test_a_notebook_as_an_object(
    stack: dict[str, Any], place: tuple[Path, dict[str, str], ClientApi], monkeypatch: pytest.MonkeyPatch
) -> None:
    work, environment, api = place
    monkeypatch.setenv("ROPEWALK_HOME", environment["ROPEWALK_HOME"])
    (work / "one.ipynb").write_text(json.dumps(NOTEBOOK))
    with ropewalk.Notebook("object", sync=work, **stack) as notebook:
        assert notebook.number is not None and "/jupyter/" in notebook.link()
        assert [one["number"] for one in ropewalk.list_notebooks(**stack)] == [notebook.number]
        jupyter = files_of(api, notebook.number)
        assert json.loads(jupyter.read("one.ipynb")[0]) == NOTEBOOK
        jupyter.write("there.txt", b"from there", None)
    assert (work / "there.txt").read_text() == "from there"
    number = max(one["id"] for one in ropewalk.list_clusters(max_pages=1, **stack) if one["name"] == "notebook-object")
    eventually(lambda: start.read(api, number)["status"] == "stopped", 2 * MINUTES_S)
