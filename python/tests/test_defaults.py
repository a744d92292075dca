"""Arguments of `Cluster` from Dask's configuration, and the cluster's copy of the configuration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import dask
import pytest
from stand_in import TOKEN, StandIn
from support import Start

import ropewalk
from ropewalk.config import load_config
from ropewalk.dask_config import VARIABLE, config_variables
from ropewalk.defaults import with_defaults
from ropewalk.log_records import logger

CANARY = "canary-4711"


def filled(given: dict[str, Any], accepted: set[str] | None = None, **sections: Any) -> dict[str, Any]:
    with dask.config.set(sections):
        return with_defaults(given, accepted or {*sections.get("ropewalk", {}), *sections.get("coiled", {}), *given})


def test_the_configuration_has_defaults_and_arguments_win(start: Start, api: StandIn) -> None:
    with dask.config.set({"ropewalk": {"n-workers": 1, "idle_timeout": "1 hour", "wait-for-workers": False, "region": "us-west-2"}}):
        start(n_workers=None, idle_timeout=None)
        start(idle_timeout="30 minutes", name="other")
        ropewalk.plan_cluster(api_url=api.url, token=TOKEN)
    first, second = api.sent("/v1/clusters")
    assert (first["workers"], first["idleTimeout"], first["region"]) == (1, 3600, "us-west-2")
    assert (second["workers"], second["idleTimeout"], second["region"]) == (2, 1800, "us-west-2")
    assert api.sent("/v1/plans/clusters") == [{"workers": 1, "region": "us-west-2"}]


def test_it_is_read_from_the_file_and_the_environment_as_dask_does(tmp_path: Path) -> None:
    (tmp_path / "ropewalk.yaml").write_text("ropewalk:\n  n-workers: 3\n  api-url: http://file:1\n  token: from-file\n")
    (tmp_path / "coiled.yaml").write_text("coiled:\n  wait-for-workers: 0.5\n  token: not-ours\n")
    program = (
        "import json, ropewalk\n"
        "from ropewalk.defaults import with_defaults\n"
        "from ropewalk.config import load_config\n"
        "names = {'n_workers', 'wait_for_workers', 'worker_cpu', 'token'}\n"
        "print(json.dumps([with_defaults({}, names), vars(load_config())]))\n"
    )
    home = {"DASK_CONFIG": str(tmp_path), "ROPEWALK_HOME": str(tmp_path), "DASK_ROPEWALK__WORKER_CPU": "[2, 8]"}
    env = {key: value for key, value in os.environ.items() if not key.startswith("DASK_")} | home
    done = subprocess.run([sys.executable, "-c", program], env=env, check=True, capture_output=True, text=True)
    values, address = json.loads(done.stdout)
    assert values == {"n_workers": 3, "wait_for_workers": 0.5, "worker_cpu": [2, 8]}
    assert address == {"api_url": "http://file:1", "token": "from-file"}


def test_variables_of_ropewalk_win_over_the_configuration_of_dask() -> None:
    with dask.config.set({"ropewalk": {"api-url": "http://dask:1", "token": "dask"}}):
        assert vars(load_config()) == {"api_url": "http://dask:1", "token": "dask"}
        env = {"ROPEWALK_API_URL": "http://env:1", "ROPEWALK_TOKEN": "env"}
        assert vars(load_config(environ=env)) == {"api_url": "http://env:1", "token": "env"}


def test_keys_of_ropewalk_win_over_those_of_coiled() -> None:
    ropewalk_keys, coiled = {"worker_cpu": 4}, {"worker-cpu": 8, "worker-memory": "8 GiB", "software": "theirs", "account": "x"}
    accepted = {"worker_cpu", "worker_memory", "software", "account"}
    assert filled({}, accepted, ropewalk=ropewalk_keys, coiled=coiled) == {"worker_cpu": 4, "worker_memory": "8 GiB"}


def test_a_given_argument_replaces_what_it_excludes() -> None:
    accepted = {"software", "container", "zone", "region", "spot_policy", "backend_options", "tags", "environ"}
    configured = {
        "software": "team",
        "zone": "us-west-2a",
        "backend-options": {"region-name": "us-west-2", "spot": True},
        "environ": {"A": "1", "B": "2"},
    }
    given = {"container": "image", "region": "us-east-1", "spot_policy": "on-demand", "environ": {"B": "3"}}
    assert filled(given, accepted, ropewalk=configured) == {**given, "backend_options": {}, "environ": {"A": "1", "B": "3"}}
    assert filled({}, accepted, ropewalk=configured)["backend_options"] == {"region_name": "us-west-2", "spot": True}


def test_unknown_keys_are_reported_with_a_suggestion(start: Start) -> None:
    with dask.config.set({"ropewalk": {"n-worker": 1, "loop": 1, "api-url": "http://x:1"}}), pytest.warns(UserWarning) as caught:
        start(n_workers=1, wait_for_workers=False)
    texts = [str(one.message) for one in caught if "unknown key" in str(one.message)]
    assert texts == [
        "Dask's configuration has the unknown key ropewalk.n-worker: did you mean ropewalk.n-workers?",
        "Dask's configuration has the unknown key ropewalk.loop: it is only an argument, not a setting.",
    ]


@pytest.mark.parametrize("argument", ["workspace", "account"])
def test_a_token_of_another_workspace_is_refused_before_a_cluster_is_started(start: Start, api: StandIn, argument: str) -> None:
    start(n_workers=1, wait_for_workers=False, **{argument: "test"})
    with pytest.raises(ropewalk.RopewalkError, match="The token is of the workspace test, not of climate"):
        start(**{argument: "climate"})
    assert len(api.sent("/v1/clusters")) == 1
    with pytest.raises(ValueError, match="both name the workspace"):
        start(workspace="test", account="climate")


def test_the_configuration_reaches_the_processes_without_credentials(start: Start, api: StandIn) -> None:
    own = {
        "color": "blue",
        "api-key": CANARY,
        "sub": {"PASSWORD": CANARY, "url": f"https://ada:{CANARY}@host/x", "size": 3},
        "options": [{"secret": CANARY}],
        "copy": f"Bearer {TOKEN}",
        "function": print,
    }
    local = {"scheduler": "threads", "temporary-directory": f"/home/{CANARY}", "distributed.comm.tls.ca-file": CANARY}
    settings = {"distributed.comm.timeouts.connect": "77s", "theirs": own, "coiled": {"token": CANARY}, "ropewalk": {"name": "n"}}
    with dask.config.set({**settings, **local}):
        start(n_workers=1, wait_for_workers=False)
        start(n_workers=1, wait_for_workers=False, name="without", send_dask_config=False)
    sent, without = api.sent("/v1/clusters")
    assert "secretEnv" not in without
    config = dask.config.deserialize(sent["secretEnv"][VARIABLE])
    assert config["distributed"] == {"comm": {"timeouts": {"connect": "77s"}}}
    assert config["theirs"] == {"color": "blue", "sub": {"size": 3}}
    assert set(config) == {"distributed", "theirs"}
    assert CANARY not in json.dumps(config) and TOKEN not in json.dumps(config)
    program = "import dask, distributed; print(dask.config.get('distributed.comm.timeouts.connect'), dask.config.get('theirs.color'))"
    env = {**os.environ, **sent["secretEnv"]}
    assert subprocess.run([sys.executable, "-c", program], env=env, check=True, capture_output=True, text=True).stdout == "77s blue\n"


def test_no_configuration_is_sent_when_it_is_the_default_too_large_or_given() -> None:
    assert config_variables(TOKEN, {}) == {}
    with dask.config.set({"theirs": "x" * 40_000}), pytest.warns(UserWarning, match="too large"):
        assert config_variables(TOKEN, {}) == {}
    with dask.config.set({"theirs": 1}):
        assert config_variables(TOKEN, {VARIABLE: "own"}) == {}


def test_configure_logging_writes_records_with_time_to_stderr(
    start: Start, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr(logger, "propagate", True)
    before, level = list(logger.handlers), logger.level
    try:
        start(n_workers=1, wait_for_workers=False, quiet=False, configure_logging=True)
        lines = [line for line in capsys.readouterr().err.splitlines() if "Created cluster 1" in line]
        assert len(lines) == 1 and " INFO distributed.ropewalk: Created cluster 1" in lines[0]
    finally:
        logger.handlers[:] = before
        logger.setLevel(level)
