"""Ropewalk's API for tests, in this process: it answers over real HTTP, with a real Dask cluster with TLS behind it."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from distributed import LocalCluster, Security

TOKEN = "rw_test_0123456789ab-secret-of-the-test"


class StandIn:
    """`faults` are answered first, each once: (method, end of the path, status, body, headers)."""

    def __init__(self, dask: LocalCluster, security: Security) -> None:
        self.dask = dask
        self.security = security
        self.requests: list[tuple[str, str, Any, dict[str, str]]] = []
        self.faults: list[tuple[str, str, int, Any, dict[str, str]]] = []
        #: By number; the API answers with the views that a test writes here.
        self.views: dict[int, dict[str, Any]] = {}
        self.by_key: dict[str, int] = {}
        self.lines: list[dict[str, Any]] = []
        #: Events of each cluster.
        self.events: list[dict[str, Any]] = []
        #: Content by SHA-256.
        self.package_files: dict[str, bytes] = {}
        #: Reads of a new cluster until its scheduler has started.
        self.reads_before_ready = 2
        #: False: requested workers do not start.
        self.workers_come = True
        #: Fields of the views of new clusters, after `reads_before_ready` reads.
        self.outcome: dict[str, Any] = {}
        #: Further fields of the answer to a new cluster.
        self.extra: dict[str, Any] = {}
        self.plan: dict[str, Any] = {"provider": "local", "pricePerHour": {"firstChoice": 0.5, "max": 1.5}}
        #: Answer of GET /v1/instance-types.
        self.types: list[dict[str, Any]] = []
        #: Instances of a cluster at a past moment.
        self.past: list[dict[str, Any]] = []
        #: Called before a stop is answered.
        self.before_stopping: Callable[[], Any] = lambda: None
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                stand_in.answer(self, "GET")

            def do_POST(self) -> None:
                stand_in.answer(self, "POST")

            def do_PUT(self) -> None:
                stand_in.answer(self, "PUT")

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

    def sent(self, end: str) -> list[Any]:
        """Bodies of the POSTs to paths with this end."""
        return [body for method, path, body, _ in self.requests if method == "POST" and path.endswith(end)]

    def answer(self, handler: BaseHTTPRequestHandler, method: str) -> None:
        data = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        is_json = (handler.headers.get("Content-Type") or "") == "application/json"
        body = json.loads(data) if data and is_json else data or None
        headers = {name.lower(): value for name, value in handler.headers.items()}
        self.requests.append((method, handler.path, body, headers))
        status, answer, extra = self.decide(method, handler.path, body, headers)
        text = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
        handler.send_response(status)
        for name, value in {"Content-Length": str(len(text)), **extra}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(text)

    def decide(self, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any, dict[str, str]]:
        for fault in self.faults:
            if method == fault[0] and path.endswith(fault[1]):
                self.faults.remove(fault)
                if fault[2] == 0:
                    # Carried out, but the answer is lost.
                    self.route(method, path, body, headers)
                    return 502, b"<html>bad gateway</html>", {}
                return fault[2], fault[3], fault[4]
        if headers.get("authorization") != f"Bearer {TOKEN}":
            return problem(401, "UNAUTHENTICATED", "This token is not valid.")
        status, answer = self.route(method, path, body, headers)
        return status, answer, {}

    def route(self, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        if path.startswith("/v1/plans/"):
            return 200, self.plan
        if path.startswith("/v1/instance-types"):
            return 200, {"items": self.types}
        if path == "/v1/whoami":
            return 200, {"user": "ada", "workspace": "test"}
        if path == "/v1/workspace/defaults":
            return 200, {"slug": "test", "defaults": body}
        if path == "/v1/missing-package-files":
            return 200, {"missing": [one for one in body["sha256s"] if one not in self.package_files]}
        if path.startswith("/v1/package-files/"):
            self.package_files[path.rpartition("/")[2]] = body
            return 204, b""
        if path.startswith("/v1/clusters?"):
            name = parse_qs(urlsplit(path).query).get("name", [None])[0]
            return 200, {"items": [v for v in self.views.values() if name is None or is_open(v, name)], "next": None}
        if path == "/v1/workspace":
            users = [{"name": name, "use": {"vcpus": vcpus}} for name, vcpus in (("ada", 8), ("bob", 4))]
            return 200, {"slug": "test", "limits": {"vcpus": 400}, "perUser": {}, "use": {"vcpus": 12}, "users": users}
        if path == "/v1/clusters":
            return self.create(body, headers.get("idempotency-key", ""))
        number, _, verb = path.removeprefix("/v1/clusters/").partition("/")
        view = self.views[int(number)]
        if verb == "scale":
            view["dask"]["workersWanted"] = body["workers"]
            self.bring_workers(view)
        if verb == "adapt":
            view["dask"]["adaptive"] = body or None
        if verb == "stop":
            self.before_stopping()
            view["status"] = "stopping"
        if verb == "credentials":
            return 200, {
                "schedulerAddress": self.dask.scheduler_address,
                "ca": self.security.tls_ca_file,
                "certificate": self.security.tls_client_cert,
                "key": self.security.tls_client_key,
                "expiresAt": "2099-01-01T00:00:00.000Z",
            }
        if verb.startswith("at?"):
            return 200, {"number": int(number), "instances": self.past}
        if verb == "why":
            text = f"The cluster is {view['status']}."
            fact = {"name": "ready", "value": view["status"], "at": None, "events": [9, 3]}
            sentence = {"about": "state", "text": text, "facts": [fact, {**fact, "events": [3]}]}
            return 200, {"number": int(number), "status": view["status"], "sentences": [sentence], "staleSince": None}
        if verb.partition("?")[0] == "logs":
            return 200, b"".join(self.line(one) for one in self.lines)
        if verb.partition("?")[0] == "events":
            return 200, b"".join(self.line(one) for one in page_of(self.events, parse_qs(urlsplit(path).query)))
        if verb == "jupyter-link":
            return 200, {"url": f"{self.url}/clusters/{number}/jupyter/?link=one", "expiresAt": "2099-01-01T00:00:00.000Z"}
        if verb == "dashboard-link":
            links = len(self.sent("/dashboard-link"))
            url = f"{self.url}/clusters/{number}/dashboard/?link=link-{links}"
            return 200, {"url": url, "expiresAt": "2099-01-01T00:00:00.000Z"}
        return (200 if verb == "" else 202), self.read_view(view)

    def create(self, body: Any, key: str) -> tuple[int, Any]:
        if key in self.by_key:
            return 200, self.created(self.by_key[key], existing=True)
        over = ("stopped", "error")
        taken = [n for n, view in self.views.items() if view["name"] == body.get("name") and view["status"] not in over]
        if taken and not body["getOrCreate"]:
            return 409, problem(409, "NAME_TAKEN", "The name belongs to another cluster.")[1]
        number = taken[0] if taken else len(self.views) + 1
        self.by_key[key] = number
        if not taken:
            self.views[number] = new_view(number, body)
        return 200 if taken else 201, self.created(number, existing=bool(taken))

    def created(self, number: int, *, existing: bool) -> dict[str, Any]:
        return {"number": number, "name": self.views[number]["name"], "existing": existing, "warnings": [], **self.extra}

    def line(self, value: Any) -> bytes:
        """Lines of application/x-ndjson."""
        return json.dumps(value).encode() + b"\n"

    def read_view(self, view: dict[str, Any]) -> dict[str, Any]:
        view["reads"] += 1
        if view["reads"] == self.reads_before_ready:
            view["status"] = "ready"
            view["dask"]["schedulerAddress"] = self.dask.scheduler_address
            self.bring_workers(view)
            view.update(self.outcome)
        dask = view["dask"]
        if dask["schedulerAddress"] is not None:
            dask["workersStarted"] = len(self.dask.scheduler.workers)
        if view["status"] in ("ready", "scaling"):
            is_ready = dask["workersStarted"] + dask["workersErrored"] >= dask["workersWanted"]
            view["status"] = "ready" if is_ready else "scaling"
        return view

    def bring_workers(self, view: dict[str, Any]) -> None:
        if self.workers_come:
            self.dask.scale(view["dask"]["workersWanted"])


def page_of(events: list[dict[str, Any]], query: dict[str, list[str]]) -> list[dict[str, Any]]:
    after = int(query.get("after", ["0"])[0])
    later = [event for event in events if event["seq"] > after]
    return later[: int(query["limit"][0])] if "limit" in query else later


def is_open(view: dict[str, Any], name: str) -> bool:
    return view["name"] == name and view["status"] not in ("stopped", "error")


def new_view(number: int, body: Any) -> dict[str, Any]:
    process = {"name": "scheduler", "state": "pending", "stage": "environment"}
    asked = body.get("workers", [1, 4])
    workers = asked if isinstance(asked, int) else asked[0]
    return {
        "number": number,
        "name": body.get("name", f"cluster-{number}"),
        "user": "ada",
        "job": None,
        "status": "pending",
        "reason": None,
        "failures": [],
        "instances": [{"id": "i_head0000head", "role": "head", "state": "started", "process": process}],
        "dask": {
            "schedulerAddress": None,
            "workersWanted": workers,
            "workersStarted": 0,
            "workersErrored": 0,
            "adaptive": None if isinstance(asked, int) else {"minimum": asked[0], "maximum": asked[1]},
        },
        "reads": 0,
    }


def problem(status: int, code: str, message: str, **more: Any) -> tuple[int, Any, dict[str, str]]:
    headers = {"Retry-After": str(more.pop("retry_after"))} if "retry_after" in more else {}
    return status, {"error": {"code": code, "message": message, "requestId": "req_test", **more}}, headers
