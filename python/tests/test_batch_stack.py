"""Jobs on a real Ropewalk, whose agents run real tasks."""

from __future__ import annotations

import io
import uuid
from pathlib import Path
from typing import Any

import pytest

import ropewalk
from ropewalk import batch

pytestmark = pytest.mark.stack

Stack = dict[str, Any]

SCRIPT = """\
# ROPEWALK ntasks 3
echo "task $ROPEWALK_BATCH_TASK_ID of $ROPEWALK_BATCH_TASK_COUNT says $GREETING"
test "$PASSWORD" = hush-hush
"""


def test_from_submit_to_end(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("hello.sh").write_text(SCRIPT)
    name = f"hello-{uuid.uuid4().hex[:8]}"
    options: Any = {"env": {"GREETING": "ahoy"}, "secret_env": {"PASSWORD": "hush-hush"}, **stack}
    created = batch.run("sh hello.sh", name=name, job_timeout="5 minutes", watchdog_timeout="10m", **options)
    number = created["number"]
    assert (created["name"], created["existing"]) == (name, False)
    # Followed from the start to the end of the job.
    printed = [line["text"] for line in batch.logs(number, follow=True, **stack) if line["task"] is not None]
    assert sorted(printed) == [f"task {task} of 3 says ahoy" for task in range(3)]
    job = batch.wait(number, timeout="2 minutes", **stack)
    assert (job["status"], job["tasks"]["done"]) == ("done", 3)
    assert [task["exitCode"] for task in batch.tasks(number, **stack)] == [0, 0, 0]
    assert [line["text"] for line in batch.logs(number, tasks=[1], **stack)] == ["task 1 of 3 says ahoy"]
    assert number in [job["number"] for job in batch.list_jobs(**stack)]
    events = list(batch.events(number, follow=True, **stack))
    assert events and [event["at"] for event in events] == sorted(event["at"] for event in events)
    assert "hush-hush" not in repr((job, events))


def test_files_to_tasks_and_back(stack: Stack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # More than goes with the job itself.
    Path("big").write_bytes(b"ropewalk" * 1_500_000)
    created = batch.run(
        ["sh", "-c", "cat small; wc -c < big > size; echo $ROPEWALK_BATCH_TASK_ID > same; : > empty"],
        ntasks=2,
        local_upload_path="big",
        buffers_to_upload=[{"relative_path": "small", "buffer": io.BytesIO(b"from memory")}],
        pipe_to_files=True,
        **stack,
    )
    assert batch.wait(created["number"], timeout="2 minutes", **stack)["status"] == "done"
    names = sorted(path.relative_to(tmp_path / "out").as_posix() for path in batch.download(created["number"], "out", **stack))
    assert names == [
        *["empty", "size", "task-0.err", "task-0.out", "task-0/same", "task-1.err", "task-1.out", "task-1/same"],
    ]
    assert Path("out/task-1.out").read_bytes() == b"from memory"
    assert Path("out/task-1/same").read_text() == "1\n"
    assert Path("out/size").read_text().strip() == "12000000"
    assert {file["path"] for file in batch.list_files(created["number"], **stack)} >= {"size", "empty", "same"}


def test_by_name_until_it_is_cancelled(stack: Stack) -> None:
    name = f"sleep-{uuid.uuid4().hex[:8]}"
    first = batch.run("sleep 600", name=name, private_to_creator=True, **stack)
    again = batch.run("sleep 600", name=name, get_or_create=True, **stack)
    assert (again["number"], again["existing"]) == (first["number"], True)
    assert batch.get(name, **stack)["status"] in ("pending", "running")
    with pytest.raises(TimeoutError, match="The job continues"):
        batch.wait(name, timeout="300 ms", **stack)
    batch.cancel(name, **stack)
    assert batch.wait(first["number"], timeout="2 minutes", **stack)["status"] == "cancelled"
    # The name of an ended job means the newest of that name.
    assert batch.get(name, **stack)["number"] == first["number"]


def test_the_server_judges_options(stack: Stack) -> None:
    with pytest.warns(UserWarning, match="memory"):
        job = batch.run("true", memory="8 GiB", **stack)
    assert batch.wait(job["number"], timeout="2 minutes", **stack)["status"] == "done"
    with pytest.raises(ropewalk.RopewalkError) as caught:
        batch.run("true", memroy="8 GiB", **stack)
    assert (caught.value.code, caught.value.field) == ("VALIDATION", "options.memroy")


def test_a_plan_describes_the_job_and_starts_nothing(stack: Stack) -> None:
    newest = [job["number"] for job in batch.list_jobs(limit=1, **stack)]
    plan = batch.plan("true", ntasks=2, memory="8 GiB", **stack)
    assert (plan["provider"], plan["head"]["count"] + plan["workers"]["count"]) == ("local", 2)
    assert plan["pricePerHour"] == {"firstChoice": 0, "max": 0}
    assert "has no effect" in plan["warnings"][0]
    assert ropewalk.plan_cluster(3, **stack)["workers"]["count"] == 3
    assert [job["number"] for job in batch.list_jobs(limit=1, **stack)] == newest
