"""Named environments: the lines of a requirements file that are sent unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest

from ropewalk import environments


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("# mine\npolars\n-r base.txt\n", "line 3 of requirements.txt is the option -r,"),
        ("-e ./mine\n", "line 1 of requirements.txt is the option -e,"),
        ("--index-url=https://ada:hunter2@index.example/simple\n", "line 1 of requirements.txt is the option --index-url,"),
    ],
)
def test_a_line_with_an_option_is_refused(tmp_path: Path, text: str, error: str) -> None:
    path = tmp_path / "requirements.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=error) as caught:
        environments.create_software_environment("science", pip=path, resolve=False)
    assert "hunter2" not in str(caught.value)


def test_a_local_project_that_uv_has_resolved_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uv = tmp_path / "uv"
    uv.write_text("#!/bin/sh\necho '-e file:///home/ada/mine'\n")
    uv.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(ValueError, match="-e file:///home/ada/mine is a project on this machine"):
        environments.create_software_environment("science", pip=["polars"])
