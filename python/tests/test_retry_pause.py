"""The cases of agents and of the SDK (test/domain/retry-pause.test.ts)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ropewalk.retry_pause import retry_pause

SHARED = json.loads((Path(__file__).parents[2] / "test" / "shared" / "retry-pauses.json").read_text())


@pytest.mark.parametrize("case", SHARED["cases"])
def test_the_pause_is_that_of_the_sdk(case: dict[str, Any]) -> None:
    pause = retry_pause(
        case["tries"],
        (case["retryAfterMs"] or 0) / 1_000,
        first_s=SHARED["firstMs"] / 1_000,
        max_s=SHARED["maxMs"] / 1_000,
        random=case["random"],
    )
    assert pause == pytest.approx(case["pauseMs"] / 1_000)
