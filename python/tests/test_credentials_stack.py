"""AWS credentials of this machine on a real cluster: test/python/credentials.full.test.ts then searches for them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws
from support import eventually

import ropewalk
from ropewalk.aws_session import VARIABLES

pytestmark = [pytest.mark.stack, pytest.mark.full]


def test_current_and_later_workers_have_them(stack: dict[str, Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shared = Path(os.environ["ROPEWALK_TEST_SHARED"])
    secret = os.environ["ROPEWALK_TEST_CANARY"]
    (tmp_path / "credentials").write_text(f"[default]\naws_access_key_id = AKIA{secret}\naws_secret_access_key = {secret}\n")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    options: Any = {"package_sync": False, "wait_for_workers": True, "quiet": True, **stack}
    with mock_aws(config={"core": {"mock_credentials": False}}), ropewalk.Cluster(n_workers=1, **options) as cluster:
        with cluster.get_client() as client:
            variables = {name: client.run_on_scheduler(os.getenv, name) for name in VARIABLES}
            assert all(variables.values()) and secret not in str(variables)
            cluster.scale(2)
            client.wait_for_workers(2)
            for name, value in variables.items():
                assert list(client.run(os.getenv, name).values()) == [value, value]
            (shared / "secrets.part").write_text(json.dumps(variables))
            (shared / "secrets.part").rename(shared / "secrets.json")
            # The other test searches every process of this machine first.
            eventually((shared / "go").exists, 240)
