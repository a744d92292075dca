"""Files of sidecars mean the same for the command of a checkout: test/cli/sidecars.test.ts reads the same cases."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from ropewalk.batch.sidecars import read_sidecars

SHARED = json.loads((Path(__file__).parents[2] / "test" / "shared" / "sidecar-files.json").read_text())


def read(text: str, directory: Path) -> list[dict[str, Any]] | None:
    path = directory / "side.yaml"
    path.write_text(text)
    return read_sidecars(path, None)


@pytest.mark.parametrize("case", SHARED["read"], ids=lambda case: case["text"])
def test_values_are_text_as_they_are_written(case: dict[str, Any], tmp_path: Path) -> None:
    fields = {name: value for name, value in case.items() if name in ("command", "env", "ports")}
    others = [{"name": "b", "container": "x", "env": case["second"]}] if "second" in case else []
    assert read(case["text"], tmp_path) == [{"name": "a", "container": "x", **fields}, *others]


@pytest.mark.parametrize("case", SHARED["refused"], ids=lambda case: case["text"])
def test_what_has_no_meaning_is_refused(case: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=re.escape(case["error"])):
        read(case["text"], tmp_path)
