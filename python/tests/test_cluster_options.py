"""docs/cluster-options.md describes exactly the arguments of `Cluster`."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import ropewalk
from ropewalk.defaults import NOT_CONFIGURED
from ropewalk.machines import CLUSTER_MACHINES
from ropewalk.other_arguments import OTHER_ARGUMENTS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs/cluster-options.md").read_text("utf-8")
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in TEXT.splitlines() if line.startswith("| `")]


def test_every_argument_has_one_row() -> None:
    own = set(inspect.signature(ropewalk.Cluster).parameters) - {"machines"}
    assert sorted(row[0].strip("`") for row in ROWS) == sorted(own | CLUSTER_MACHINES | OTHER_ARGUMENTS)


def test_defaults_of_the_signature_are_those_of_the_table() -> None:
    documented = {row[0].strip("`"): row[2].strip("`") for row in ROWS}
    for name, parameter in inspect.signature(ropewalk.Cluster).parameters.items():
        if isinstance(parameter.default, (bool, str)):
            assert documented[name].startswith(str(parameter.default)), name


def test_every_row_names_code_and_tests_that_exist() -> None:
    for row in ROWS:
        assert len(row) == 5 and all(row), row
        for path in re.findall(r"[\w./-]+/[\w.-]+", row[3]) + row[4].split(", "):
            assert (ROOT / path).exists(), (row[0], path)


def test_the_arguments_that_are_not_configured_are_named() -> None:
    for name in NOT_CONFIGURED:
        assert f"`{name}`" in TEXT.partition("## General")[0]


def test_the_signature_shows_every_argument_for_completion() -> None:
    parameters = inspect.signature(ropewalk.Cluster).parameters
    assert {"n_workers", "worker_memory", "region", "spot_policy", "backend_options", "tags", "cloud"} <= parameters.keys()
    assert not [one for one in parameters.values() if one.kind is inspect.Parameter.VAR_KEYWORD]
    assert parameters["worker_memory"].default is None and parameters["worker_memory"].annotation == "Memory | None"
    assert inspect.signature(ropewalk.Cluster.__init__).parameters.keys() - parameters.keys() == {"self"}
