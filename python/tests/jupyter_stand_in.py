"""A stand-in for a Jupyter server behind the relay, and for the API's view of its cluster: files in memory, over real HTTP."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from stand_in import TOKEN, problem

from ropewalk.notebook.contents import JupyterFiles
from ropewalk.notebook.local import LocalFiles
from ropewalk.notebook.sync import Sync

Answer = tuple[int, Any]
_ROOT = "/clusters/1/jupyter/"


class JupyterStandIn:
    def __init__(self) -> None:
        #: Content and version by path; directories are those of the paths.
        self.files: dict[str, tuple[bytes, int]] = {}
        self.directories: set[str] = set()
        self.requests: list[tuple[str, str]] = []
        self.created: list[Any] = []
        self.stopped: list[int] = []
        self.status = "ready"
        self.user = "ada"
        self.session = 0
        #: Called first, for a hostile or broken server: None for the usual answer.
        self.instead: Callable[[str, str], Answer | None] = lambda method, path: None
        self._versions = 0
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                status, body, headers = stand_in.route(self, json.loads(data) if data else None)
                self.send_response(status)
                is_page = isinstance(body, bytes)
                text = body if isinstance(body, bytes) else json.dumps(body).encode()
                kind = "text/html" if is_page else "application/json"
                for name, value in {"Content-Type": kind, "Content-Length": str(len(text)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(text)

            do_GET = do_POST = do_PUT = do_DELETE = answer

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()

    def link(self) -> str:
        return f"{self.url}{_ROOT}?link=good"

    def put(self, path: str, content: bytes) -> None:
        self._versions += 1
        self.files[path] = (content, self._versions)

    def contents(self) -> dict[str, bytes]:
        return {path: content for path, (content, _) in self.files.items()}

    def route(self, handler: BaseHTTPRequestHandler, body: Any) -> tuple[int, Any, dict[str, str]]:
        parts = urlsplit(handler.path)
        method, path, query = str(handler.command), parts.path, parse_qs(parts.query)
        self.requests.append((method, handler.path))
        if path.startswith("/v1/"):
            if handler.headers.get("Authorization") != f"Bearer {TOKEN}":
                return problem(401, "UNAUTHENTICATED", "This token is not valid.")
            return (*self.api(method, path, query, body), {})
        other = self.instead(method, handler.path)
        if other is not None:
            return (*other, {"Location": "http://elsewhere.invalid/"} if other[0] == 302 else {})
        if path == _ROOT and query.get("link") == ["good"]:
            self.session += 1
            return 200, b"welcome", {"Set-Cookie": f"ropewalk_jupyter=s{self.session}; HttpOnly; SameSite=Strict"}
        if handler.headers.get("Cookie") != f"ropewalk_jupyter=s{self.session}":
            return 401, b"<html>sign in</html>", {}
        if method != "GET" and handler.headers.get("Origin") != self.url:
            return 403, b"<html>another origin</html>", {}
        place = unquote(path.removeprefix(f"{_ROOT}api/contents").strip("/"))
        return (*self.jupyter(method, place, query, body), {})

    def api(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Answer:
        if path == "/v1/whoami":
            return 200, {"user": "ada", "workspace": "test"}
        if path == "/v1/clusters" and method == "GET":
            named = [self.view()] if self.created and not self.stopped else []
            return 200, {"items": [one for one in named if query.get("name", [one["name"]]) == [one["name"]]], "next": None}
        if path == "/v1/clusters":
            self.created.append(body)
            return 201, {"number": 1, "name": body["name"], "existing": False, "warnings": []}
        if path.endswith("/stop"):
            self.stopped.append(1)
            return 202, self.view()
        if path.endswith("/jupyter-link"):
            return 200, {"url": self.link(), "expiresAt": "2099-01-01T00:00:00.000Z"}
        return 200, self.view()

    def view(self) -> dict[str, Any]:
        dask = {"schedulerAddress": "tls://10.0.0.1:8786", "workersWanted": 0, "workersStarted": 0, "workersErrored": 0, "adaptive": None}
        reason = {"code": "IDLE", "text": "nothing was computed for 4 hours"} if self.status == "stopped" else None
        name = self.created[-1]["name"] if self.created else "notebook-one"
        more = {"reason": reason, "job": None, "instances": [], "failures": [], "dask": dask, "createdAt": "2026-01-01T00:00:00.000Z"}
        return {"number": 1, "name": name, "user": self.user, "status": self.status, "endedAt": None, **more}

    def jupyter(self, method: str, path: str, query: dict[str, list[str]], body: Any) -> Answer:
        is_directory = path == "" or path in self.directories or any(one.startswith(f"{path}/") for one in self.files)
        if method == "PUT" and body["type"] == "directory":
            self.directories.add(path)
            return 201, {}
        if method == "PUT":
            content = base64.b64decode(body["content"])
            before = self.files[path][0] if body.get("chunk", 1) != 1 else b""
            self.put(path, before + content)
            return 200, self.model(path)
        if path not in self.files and not is_directory:
            return 404, "no such file"
        if method == "DELETE":
            del self.files[path]
            return 204, b""
        if query["type"] == ["directory"] and is_directory:
            return 200, {"content": self.entries(path)}
        if query["type"] != ["file"] or path not in self.files:
            return 400, {"message": f"{path} is of another type"}
        model = self.model(path)
        if query["content"] == ["1"]:
            model["content"] = base64.b64encode(self.files[path][0]).decode()
        return 200, model

    def model(self, path: str) -> dict[str, Any]:
        content, version = self.files[path]
        kind = "notebook" if path.endswith(".ipynb") else "file"
        return {"name": path.rpartition("/")[2], "type": kind, "size": len(content), "last_modified": f"v{version}"}

    def entries(self, directory: str) -> list[dict[str, Any]]:
        above = f"{directory}/" if directory else ""
        inside = [path[len(above) :] for path in [*self.files, *(f"{one}/" for one in self.directories)] if path.startswith(above)]
        below = sorted({path.partition("/")[0] for path in inside if "/" in path} - {""})
        files = [self.model(above + path) for path in inside if path and "/" not in path]
        return [*files, *({"name": name, "type": "directory"} for name in below)]


class Here:
    """A directory and its sync; `said` are the lines for the user."""

    def __init__(self, jupyter: JupyterStandIn, root: Path, file: Path, *ignored: str) -> None:
        root.mkdir(exist_ok=True)
        self.root = root
        self.file = file
        self.said: list[str] = []
        self.sync = Sync(LocalFiles(root, ignored), JupyterFiles(jupyter.link, ignored), file, self.said.append)

    def put(self, path: str, content: bytes) -> None:
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_bytes(content)

    def contents(self) -> dict[str, bytes]:
        files = [path for path in self.root.rglob("*") if path.is_file() and not path.is_symlink()]
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in files}
