"""Ropewalk's job API for tests: it answers with the objects that a test stores here."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

from stand_in import StandIn, problem

TASKS = {"total": 2, "pending": 0, "assigned": 0, "running": 2, "done": 0, "error": 0, "cancelled": 0}


def a_job(number: int = 1, **more: Any) -> dict[str, Any]:
    return {"number": number, "name": f"job-{number}", "status": "running", "tasks": dict(TASKS), **more}


def a_line(text: str, *, seconds: float = 0.0, task: int | None = 0, stream: str = "stdout") -> dict[str, Any]:
    at = f"2026-01-01T00:00:{seconds:06.3f}Z"
    return {"at": at, "instance": "i_1", "task": task, "attempt": 1, "stream": stream, "text": text}


class JobsStandIn(StandIn):
    def __init__(self) -> None:
        self.jobs: dict[int, dict[str, Any]] = {}
        self.tasks: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self.past: dict[str, Any] = {}
        #: Reads of a job until it is done.
        self.reads_before_done = 3
        super().__init__(None, None)  # type: ignore[arg-type]

    def asked(self, end: str) -> list[dict[str, list[str]]]:
        """Queries of the GETs to paths with this end."""
        parts = [urlsplit(path) for method, path, _, _ in self.requests if method == "GET"]
        return [parse_qs(one.query) for one in parts if one.path.endswith(end)]

    def route(self, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any]:
        url = urlsplit(path)
        query = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path.startswith("/v1/plans/"):
            return 200, self.plan
        if url.path == "/v1/missing-package-files":
            return 200, {"missing": []}
        if url.path == "/v1/whoami":
            return 200, {"workspace": "default"}
        if url.path == "/v1/file-uploads":
            return 200, {"uploads": [{"sha256": one["sha256"], "url": None, "headers": {}} for one in body["files"]]}
        if url.path.startswith("/v1/file-blobs/"):
            return 204, b""
        if url.path == "/v1/jobs":
            return self.submit(body, headers["idempotency-key"]) if method == "POST" else (200, self.page(query))
        number, _, verb = url.path.removeprefix("/v1/jobs/").partition("/")
        if int(number) not in self.jobs:
            return problem(404, "NOT_FOUND", f"There is no job {number}.")[:2]
        if verb == "tasks":
            return 200, {"items": self.tasks, "next": None}
        if verb == "why":
            return 200, {"number": int(number), "status": "running", "sentences": [], "staleSince": None}
        if verb == "at":
            return 200, self.past
        if verb == "task-states":
            return 200, {"total": 1, "runs": [{"state": "done", "count": 1}], "durations": []}
        if verb == "costs":
            return 200, {"points": [{"at": "2026-11-23T10:00:00.000Z", "dollars": 0.5}]}
        if verb in ("logs", "events"):
            return 200, self.as_lines()
        return (202 if verb == "cancel" else 200), self.read(self.jobs[int(number)])

    def submit(self, body: Any, key: str) -> tuple[int, Any]:
        existing = key in self.by_key
        number = self.by_key.setdefault(key, len(self.jobs) + 1)
        self.jobs.setdefault(number, a_job(number, name=body.get("name", f"job-{number}"), reads=0))
        name = self.jobs[number]["name"]
        return 201, {"number": number, "name": name, "existing": existing, "warnings": self.warnings}

    def page(self, query: dict[str, str]) -> dict[str, Any]:
        """A page of at most two jobs."""
        newest = [job for _, job in sorted(self.jobs.items(), reverse=True)]
        if "name" in query:
            return {"items": [job for job in newest if job["name"] == query["name"]], "next": None}
        start = int(query.get("after", 0))
        end = start + min(2, int(query["limit"]))
        return {"items": newest[start:end], "next": str(end) if end < len(newest) else None}

    def as_lines(self) -> bytes:
        return b"".join(self.line(one) for one in self.lines)

    def read(self, job: dict[str, Any]) -> dict[str, Any]:
        job["reads"] = job.get("reads", 0) + 1
        if job["reads"] >= self.reads_before_done:
            job["status"] = "done"
        return job
