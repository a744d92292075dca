"""`@ropewalk.function` on a real Ropewalk: the scheduler's instance runs the first calls, and the server ends the cluster."""

from __future__ import annotations

import os
from typing import Any

import pytest
from test_stack import Stack, has_ended, view_of

import ropewalk
from ropewalk import function_clusters

pytestmark = pytest.mark.stack


def test_functions_share_a_cluster_that_ends_after_its_last_client(stack: Stack) -> None:
    on_cluster = ropewalk.function(
        n_workers=[0, 1], keepalive="3s", environ={"GREETING": "ahoy"}, extra_kwargs={**stack, "requirements": []}
    )

    @on_cluster
    def square(number: int) -> int:
        return number * number

    @on_cluster
    def describe(number: int) -> tuple[int, str | None, int]:
        return square(number), os.environ.get("GREETING"), os.getpid()

    # The scheduler's own worker is the only one.
    squared, greeting, process = describe(3)
    assert (squared, greeting) == (9, "ahoy") and process != os.getpid()
    assert list(square.map(range(20))) == [number * number for number in range(20)]
    cluster: Any = square.cluster
    assert cluster is describe.cluster and view_of(stack, cluster.number)["name"] == square.name
    function_clusters._running.pop(square.name).client.close()
    cluster.close()
    view = has_ended(stack, cluster.number)
    assert (view["status"], view["reason"]["code"]) == ("stopped", "NO_CLIENT")
