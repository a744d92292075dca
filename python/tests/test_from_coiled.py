"""What `coiled.batch.run` and `coiled batch run` take, taken as they are: commands, files that scripts name, arguments, logs."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from stand_in_jobs import JobsStandIn, a_job, a_line

from ropewalk import batch
from ropewalk.batch.split_words import split_words
from ropewalk.cli.main import main

SCRIPT = """#!/bin/bash
# COILED ntasks 2
# python unread.py
python helper.py data.csv "two words.txt" || exit 1
python /etc/passwd.py ../outside.py link.csv big.csv sub/inner.py
./other.sh
cat unnamed
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    here = tmp_path / "work"
    (here / "sub").mkdir(parents=True)
    for name in ("helper.py", "data.csv", "two words.txt", "sub/inner.py", "unread.py", "unnamed", "deeper.py"):
        (here / name).write_text("")
    (here / "other.sh").write_text("python deeper.py\n")
    (here / "big.csv").write_text("x" * 33 * 1024)
    (here / "link.csv").symlink_to("/etc/hostname")
    (here / "run.sh").write_text(SCRIPT)
    (tmp_path / "outside.py").write_text("")
    monkeypatch.chdir(here)
    return here


def sent_paths(jobs: JobsStandIn) -> list[str]:
    return [file["path"] for file in jobs.sent("/v1/jobs")[-1].get("files", [])]


NAMED = ["run.sh", "helper.py", "data.csv", "two words.txt", "sub/inner.py", "other.sh"]


def test_files_that_a_script_names_are_sent(jobs: JobsStandIn, files: Path) -> None:
    with pytest.warns(UserWarning) as warned:
        batch.run(["./run.sh"])
    assert sent_paths(jobs) == NAMED
    # They give way to files of an input filestore; the script itself does not.
    assert [file.get("implicit") for file in jobs.sent("/v1/jobs")[-1]["files"]] == [None, True, True, True, True, True]
    said = [str(one.message) for one in warned]
    assert "sent too, because run.sh names them: helper.py, data.csv, two words.txt, sub/inner.py, other.sh" in said
    assert any("because of their size: big.csv" in one for one in said)


def test_files_that_a_script_names_are_not_sent_where_that_is_turned_off(jobs: JobsStandIn, files: Path) -> None:
    batch.run(["./run.sh"], no_implicit_file_upload=True)
    assert sent_paths(jobs) == ["run.sh"]
    assert main(["batch", "run", "--no-implicit-file-upload", "run.sh"]) == 0
    assert sent_paths(jobs) == ["run.sh"]
    (files / "off.sh").write_text("# COILED no-implicit-file-upload\npython helper.py\n")
    batch.run(["off.sh"])
    assert sent_paths(jobs) == ["off.sh"]
    assert jobs.sent("/v1/jobs")[-1]["clientOptions"] == ["no-implicit-file-upload"]


def test_a_script_names_no_hidden_file_of_the_home_directory(
    jobs: JobsStandIn, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: files)
    (files / ".keys").mkdir()
    (files / ".keys" / "a.json").write_text("{}")
    (files / "keys.sh").write_text("python helper.py .keys/a.json\n")
    with pytest.warns(UserWarning, match="because keys.sh names them: helper.py$"):
        batch.run(["keys.sh"])
    assert sent_paths(jobs) == ["keys.sh", "helper.py"]


def test_a_script_names_no_keys_whatever_the_current_directory_is(
    jobs: JobsStandIn, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = files / "me"
    monkeypatch.setattr(Path, "home", lambda: home)
    keys = ["me/.ssh/id_ed25519", "me/.aws/credentials", ".env", "id_rsa", ".aws/credentials", "server.pem"]
    for name in [*keys, "me/.aws/plain.json", "credentials.py"]:
        (files / name).parent.mkdir(parents=True, exist_ok=True)
        (files / name).write_text("k")
    (files / "link.json").symlink_to(".env")
    (files / "keys.sh").write_text(f"python credentials.py link.json {' '.join(keys)}\n")
    with pytest.warns(UserWarning, match="names of keys, credentials or databases: link.json, me/.ssh/"):
        batch.run(["keys.sh"])
    assert sent_paths(jobs) == ["keys.sh", "credentials.py"]
    monkeypatch.chdir(home / ".aws")
    (home / ".aws" / "keys.sh").write_text("python plain.json credentials\n")
    with pytest.warns(UserWarning, match="hidden"):
        batch.run(["keys.sh"])
    assert sent_paths(jobs) == ["keys.sh"]


def test_files_are_found_before_a_comment_whatever_it_contains(jobs: JobsStandIn, files: Path) -> None:
    for name in ("a.py", "b.py", "c#.py", "d # e.py", "no.py"):
        (files / name).write_text("")
    lines = ["python a.py   # don't forget no.py", "python b.py;# it's no.py", "python c#.py 'd # e.py' # \"no.py"]
    (files / "notes.sh").write_text("\n".join([*lines, "  # don't: python no.py", ""]))
    with pytest.warns(UserWarning, match="sent too"):
        batch.run(["notes.sh"])
    assert sent_paths(jobs) == ["notes.sh", "a.py", "b.py", "c#.py", "d # e.py"]


def test_files_that_a_script_names_never_refuse_a_job(
    jobs: JobsStandIn, files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = [f"large{nth}.py" for nth in range(12)]
    for name in large:
        (files / name).write_text("x" * 1024 * 1024)
    (files / "large.sh").write_text("".join(f"python {name}\n" for name in large))
    with pytest.warns(UserWarning, match="10 MiB together: large9.py, large10.py, large11.py; use upload"):
        batch.run(["large.sh"])
    assert sent_paths(jobs) == ["large.sh", *large[:9]]
    many = [f"part{nth}.py" for nth in range(102)]
    for name in many:
        (files / name).write_text("")
    (files / "many.sh").write_text("".join(f"python {name}\n" for name in many))
    with pytest.warns(UserWarning, match="at most 100 such files are sent: part100.py, part101.py; use upload"):
        batch.run(["many.sh"])
    assert sent_paths(jobs) == ["many.sh", *many[:100]]
    monkeypatch.setattr("ropewalk.batch.implicit_files.os.access", lambda path, _: Path(path).name != "helper.py")
    (files / "shut.sh").write_text("python helper.py part0.py\n")
    with pytest.warns(UserWarning, match="because they cannot be read: helper.py; use upload"):
        batch.run(["shut.sh"])
    assert sent_paths(jobs) == ["shut.sh", "part0.py"]


def test_what_the_user_names_goes_before_what_a_script_names(jobs: JobsStandIn, files: Path) -> None:
    (files / "sub" / "helper.py").write_text("of sub")
    with pytest.warns(UserWarning):
        batch.run(["./run.sh"], upload="sub")
    contents = {file["path"]: base64.b64decode(file["content"]) for file in jobs.sent("/v1/jobs")[-1]["files"]}
    assert contents["helper.py"] == b"of sub"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("python work.py data.csv", ["python", "work.py", "data.csv"]),
        ("echo 'a b' \"c d\" e\\ f", ["echo", "a b", "c d", "e f"]),
        ("echo \"\\$HOME\" \\$HOME $HOME ''", ["echo", "$HOME", "$HOME", "$HOME", ""]),
        ("echo", None),
        ("sort in.txt | uniq", None),
        ("echo $(date)", None),
        ("echo 'a", None),
        ("echo a\necho b", None),
    ],
)
def test_a_command_line_in_one_word_is_split(text: str, words: list[str] | None) -> None:
    assert split_words(text) == words


def test_a_command_in_one_word_is_sent_as_its_words(jobs: JobsStandIn, files: Path) -> None:
    assert main(["batch", "run", "sh -c 'echo a'"]) == 0
    assert main(["batch", "run", "two words.txt"]) == 0
    assert [sent["command"] for sent in jobs.sent("/v1/jobs")] == [["sh", "-c", "echo a"], ["two words.txt"]]


def test_arguments_of_coiled_are_taken_as_they_are(jobs: JobsStandIn) -> None:
    batch.run("echo hi", env=["A=1", "B=x=y"], secret_env=["S=hush"], max_retries=3, cpu="4-8", memory="16GB-32GB")
    assert jobs.sent("/v1/jobs") == [
        {
            "command": ["echo", "hi"],
            "env": {"A": "1", "B": "x=y"},
            "secretEnv": {"S": "hush"},
            "retries": 3,
            "cpu": [4, 8],
            "memory": ["16GB", "32GB"],
        }
    ]
    batch.run("echo hi", cpu="4")
    assert jobs.sent("/v1/jobs")[-1]["cpu"] == 4
    for wrong in (["hush"], ["=hush"]):
        with pytest.raises(ValueError, match="^secret_env: each text is like"):
            batch.run("echo hi", secret_env=wrong)
    with pytest.raises(TypeError, match="env: give a dictionary"):
        batch.run("echo hi", env="A=1")


def test_a_text_that_begins_as_a_script_is_one(jobs: JobsStandIn) -> None:
    batch.run("#!/bin/bash\n# COILED ntasks 2\necho hi")
    (sent,) = jobs.sent("/v1/jobs")
    assert sent["command"] == ["command.sh"]
    assert base64.b64decode(sent["files"][0]["content"]).startswith(b"#!/bin/bash\n# COILED ntasks 2")


def test_the_end_of_a_job_is_reported_as_in_coiled(jobs: JobsStandIn) -> None:
    jobs.jobs = {1: a_job(1, status="done"), 2: a_job(2, status="running")}
    assert batch.wait_for_job_done(1) == "done"
    assert batch.wait_for_job_done(2, timeout=0.01) is None


def test_logs_are_those_of_the_newest_job_in_the_formats_of_aws(
    jobs: JobsStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    jobs.jobs = {1: a_job(1)}
    jobs.lines = [{**a_line("Hello\x1b[2J"), "at": "2025-07-09T16:50:37.844Z"}]
    assert main(["batch", "logs", "--format", "short"]) == 0
    assert capsys.readouterr().out == "2025-07-09T16:50:37 Hello\n"
    assert main(["batch", "logs", "1", "--format", "detailed"]) == 0
    instance = jobs.lines[0]["instance"]
    assert capsys.readouterr().out == f"2025-07-09T16:50:37.844000+00:00 {instance}/task-0 Hello\n"


def a_task(number: int, state: str) -> dict[str, Any]:
    times = {"startedAt": None, "endedAt": None, "reason": None, "cost": None}
    return {"id": number, "index": number, "state": state, "attempt": 1, "exitCode": 0, "signal": None, "instance": None, **times}


def test_tasks_and_jobs_are_in_the_order_that_was_asked_for(
    jobs: JobsStandIn, capsys: pytest.CaptureFixture[str]
) -> None:
    def ids(*words: str) -> list[int]:
        assert main(["batch", *words, "--format", "json"]) == 0
        return [one.get("id", one.get("number")) for one in json.loads(capsys.readouterr().out)]

    jobs.jobs = {number: a_job(number, status="done" if number < 3 else "error") for number in (1, 2, 3)}
    assert ids("list", "--sort", "-state,id") == [3, 1, 2]
    jobs.tasks = [a_task(0, "done"), a_task(1, "error"), a_task(2, "error")]
    assert ids("status", "1", "--sort", "-state,-id") == [2, 1, 0]
    assert main(["batch", "status", "1", "--sort", "command"]) == 2


SIDECARS = """
mlflow:
  image: astral/uv:debian-slim
  command: uvx mlflow server --name 'two words'
  ports:
    - 5000
cache: {container: "redis:8", environment: [A=1, B=x=y]}
"""
READ_SIDECARS = [
    {
        "name": "mlflow",
        "container": "astral/uv:debian-slim",
        "command": ["uvx", "mlflow", "server", "--name", "two words"],
        "ports": [5000],
    },
    {"name": "cache", "container": "redis:8", "env": {"A": "1", "B": "x=y"}},
]


def test_sidecars_are_read_from_a_file_or_given_as_dictionaries(jobs: JobsStandIn, files: Path) -> None:
    (files / "side.yaml").write_text(SIDECARS)
    (files / "job.sh").write_text("# COILED scheduler-sidecar-spec side.yaml\n")
    batch.run("true", scheduler_sidecar_spec="side.yaml")
    assert main(["batch", "run", "--scheduler-sidecar-spec", "side.yaml", "true"]) == 0
    assert main(["batch", "run", "job.sh"]) == 0
    given = [{"name": "cache", "image": "redis:8", "env": {"A": 1, "B": True}}]
    batch.run("true", cluster_kwargs={"scheduler_sidecars": given})
    sent = [one["schedulerSidecars"] for one in jobs.sent("/v1/jobs")]
    cache = {"name": "cache", "container": "redis:8", "env": {"A": "1", "B": "true"}}
    assert sent == [READ_SIDECARS, READ_SIDECARS, READ_SIDECARS, [cache]]
    assert jobs.sent("/v1/jobs")[2]["clientOptions"] == ["scheduler-sidecar-spec"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "it names no container"),
        ("a: {command: x}", "a has no image"),
        ("- image: x", "each container needs a name"),
        ("a: {image: x, volumes: [/]}", "volumes is not known"),
        ("a: {image: x, filestores: [{name: mlflow}]}", "filestores are not kept"),
        ("a: {image: x, command: 'sleep 1 | cat'}", "command is neither text nor a list"),
        ("a: {image: x, env: [A]}", "write variables as KEY: value"),
        ("a: {image: x, ports: 6379}", "side.yaml: a: ports is no list"),
        ("a: {image: x, ports: 0}", "side.yaml: a: ports is no list"),
        ("a: {image: x, ports: ['6379:6379']}", "side.yaml: a: ports: 6379:6379 is no port"),
        ("a: {image: x, ports: [true]}", "side.yaml: a: ports: true is no port"),
        ("a: {image: x, ports: [65536]}", "side.yaml: a: ports: 65536 is no port"),
        ("a: {image: x, env: 5}", "write variables as KEY: value"),
        ("5", "it names no container"),
        ("just text", "it names no container"),
        ("a: [", "scheduler_sidecar_spec: side.yaml: "),
    ],
)
def test_a_file_of_sidecars_that_cannot_be_read_is_refused(text: str, why: str, files: Path) -> None:
    (files / "side.yaml").write_text(text)
    with pytest.raises(ValueError, match=why):
        batch.run("true", scheduler_sidecar_spec="side.yaml")
