"""AWS credentials of this machine on a cluster: real botocore and boto3, STS by moto, and a real Dask scheduler with TLS."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import boto3
import pytest
from distributed import Client, Nanny
from moto import mock_aws
from stand_in import StandIn
from stand_in_jobs import JobsStandIn
from support import Start

import ropewalk
from ropewalk import aws_session, batch, credentials
from ropewalk.aws_session import VARIABLES, AwsSession, AwsSessions
from ropewalk.credentials import ForwardedCredentials, refresh_at

KEY, SECRET = "AKIACANARYCANARY4711", "canary-secret-4711"


@pytest.fixture
def aws(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """This machine has a long-lived key in a file, and STS answers."""
    file = tmp_path / "aws-credentials"
    file.write_text(f"[default]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n")
    # The stand-in's scheduler and workers share the environment of this process, which is restored
    # afterwards.
    for name in VARIABLES:
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    with mock_aws(config={"core": {"mock_credentials": False}}):
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(file))
        yield file


def own_variables() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in VARIABLES}


def test_a_session_and_not_the_key_reaches_scheduler_and_workers_that_come_later(
    start: Start, api: StandIn, aws: Path, tmp_path: Path
) -> None:
    cluster = start(n_workers=0, credentials_duration_seconds=900, wait_for_workers=False)
    sent = own_variables()
    assert sent["AWS_ACCESS_KEY_ID"] not in (None, KEY) and sent["AWS_SECRET_ACCESS_KEY"] not in (None, SECRET)
    expiration = datetime.strptime(str(sent["AWS_CREDENTIAL_EXPIRATION"]), "%Y-%m-%dT%H:%M:%SZ")
    assert timedelta(seconds=600) < expiration.replace(tzinfo=timezone.utc) - datetime.now(timezone.utc) <= timedelta(seconds=900)

    async def in_a_worker_of_its_own_process() -> dict[str, str | None]:
        nothing = {name: "" for name in VARIABLES}
        where = {"local_directory": str(tmp_path), "security": api.security}
        async with Nanny(api.dask.scheduler_address, nthreads=1, env=nothing, **where) as nanny:
            async with Client(api.dask.scheduler_address, security=api.security, asynchronous=True) as client:
                (found,) = (await client.run(lambda: dict(os.environ), workers=[nanny.worker_address])).values()
        return {name: found.get(name) for name in VARIABLES}

    assert asyncio.run(in_a_worker_of_its_own_process()) == sent
    # boto3 takes them from the environment, as it would on a worker.
    assert boto3.Session().get_credentials().get_frozen_credentials().token == sent["AWS_SESSION_TOKEN"]
    assert boto3.client("sts", region_name="us-east-1").get_caller_identity()["Account"]
    cluster.close()
    for secret in (SECRET, sent["AWS_SECRET_ACCESS_KEY"], sent["AWS_SESSION_TOKEN"]):
        assert str(secret) not in str(api.requests)


@pytest.mark.parametrize(
    "options", [{"credentials": None}, {"credentials": False}, {"environ": {"AWS_ACCESS_KEY_ID": "theirs"}}]
)
def test_nothing_is_sent_when_the_user_wants_none_or_their_own(start: Start, aws: Path, options: Any) -> None:
    start(n_workers=0, wait_for_workers=False, **options)
    assert own_variables() == dict.fromkeys(VARIABLES)


def test_they_are_sent_on_demand(start: Start, aws: Path) -> None:
    cluster = start(n_workers=0, wait_for_workers=False, credentials=None)
    cluster.send_credentials()
    assert os.environ["AWS_SESSION_TOKEN"]


def test_a_machine_without_credentials_starts_clusters_and_says_so_only_when_asked(start: Start) -> None:
    cluster = start(n_workers=0, wait_for_workers=False)
    assert not any("credentials" in text for _, text in cluster._cluster_manager_logs)
    with pytest.raises(ropewalk.RopewalkError, match="no AWS credentials to send.*Install boto3"):
        cluster.send_credentials()


def test_a_cluster_of_a_colleague_keeps_their_credentials(start: Start, api: StandIn, aws: Path) -> None:
    first = start(n_workers=0, wait_for_workers=False, credentials=None, name="theirs")
    api.views[1]["user"] = "bob"
    second = start(n_workers=0, wait_for_workers=False, name="theirs")
    assert own_variables() == dict.fromkeys(VARIABLES)
    assert any("keeps the AWS credentials of bob" in text for _, text in second._cluster_manager_logs)
    first.close()


@pytest.mark.parametrize("seconds", [899, 129_601, "1h", True])
def test_an_impossible_duration_is_refused_by_name(start: Start, api: StandIn, seconds: Any) -> None:
    with pytest.raises(ValueError, match="credentials_duration_seconds is .*: give seconds from 900 to 129600"):
        start(credentials_duration_seconds=seconds)
    with pytest.raises(ValueError, match="credentials is 'all': give \"local\""):
        start(credentials="all")
    assert api.requests == []


def test_a_session_of_this_machine_is_sent_as_it_is(aws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "ASIAOWN")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "own-secret")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "own-token")
    assert AwsSessions().read() == AwsSession("ASIAOWN", "own-secret", "own-token", None)
    soon = datetime.now(timezone.utc).replace(microsecond=0) + timedelta(hours=2)
    monkeypatch.setenv("AWS_CREDENTIAL_EXPIRATION", soon.isoformat())
    assert AwsSessions().read() == AwsSession("ASIAOWN", "own-secret", "own-token", soon)


def test_unusable_credentials_are_an_error_without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AWS_ENDPOINT_URL_STS", f"http://127.0.0.1:9/{KEY}")
    with pytest.raises(ropewalk.RopewalkError, match="cannot be used.*Sign in to AWS") as caught:
        AwsSessions().read()
    assert caught.value.code == "AWS_CREDENTIALS"
    assert KEY not in str(caught.value) and SECRET not in str(caught.value)
    assert SECRET not in repr(AwsSession(KEY, SECRET, "token", None))


def test_without_botocore_there_is_nothing_to_send(aws: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aws_session.importlib.util, "find_spec", lambda name: None)
    assert AwsSessions().read() is None


def test_a_session_is_replaced_at_half_of_its_life(aws: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    """Time is one number that the test advances: a sleep advances it."""
    now = time.time()
    sent: list[tuple[float, Mapping[str, str | None]]] = []
    enough = asyncio.Event()

    async def sleep(seconds: float) -> None:
        nonlocal now
        assert seconds <= credentials._CHECK_EVERY_S
        now += seconds
        await real_sleep(0)

    async def send(variables: Mapping[str, str | None]) -> None:
        sent.append((now, variables))
        if len(sent) == 2:
            raise OSError("the scheduler is unreachable")
        if len(sent) == 4:
            enough.set()

    class Sessions:
        def read(self) -> AwsSession:
            return AwsSession("ASIA", "s", f"token-{len(sent)}", datetime.fromtimestamp(now + 3600, timezone.utc))

    real_sleep = asyncio.sleep
    begin = now
    monkeypatch.setattr(credentials.asyncio, "sleep", sleep)
    monkeypatch.setattr(credentials.time, "time", lambda: now)

    async def run() -> None:
        forwarded = ForwardedCredentials(None, send, lambda _: None)
        monkeypatch.setattr(forwarded, "_sessions", Sessions())
        await forwarded.start()
        await enough.wait()
        forwarded.stop()

    asyncio.run(run())
    assert [round(at - begin) for at, _ in sent] == [0, 1800, 1860, 3660]
    assert [variables["AWS_SESSION_TOKEN"] for _, variables in sent] == ["token-0", "token-1", "token-2", "token-3"]
    assert "not refreshed; retrying: the scheduler is unreachable" in caplog.text


def test_when_a_session_is_replaced() -> None:
    def session(left_s: float | None) -> AwsSession:
        return AwsSession("a", "b", "c", None if left_s is None else datetime.fromtimestamp(1000 + left_s, timezone.utc))

    assert refresh_at(session(3600), 1000) == 2800
    assert refresh_at(session(30), 1000) == 1060
    assert refresh_at(session(-30), 1000) == 1060
    assert refresh_at(session(None), 1000) == 1300


def test_a_job_gets_a_session_as_secret_variables(jobs: JobsStandIn, aws: Path) -> None:
    with pytest.warns(UserWarning, match="AWS credentials of this machine until .* UTC"):
        batch.run(["true"], forward_aws_credentials=True, secret_env={"A": "b"})
    (sent,) = jobs.sent("/v1/jobs")
    assert sent["secretEnv"].keys() == {"A", *VARIABLES} and "options" not in sent and "env" not in sent
    assert SECRET not in str(sent)
    with pytest.raises(ValueError, match="forward_aws_credentials.*leave one out"):
        batch.run(["true"], forward_aws_credentials=True, env={"AWS_ACCESS_KEY_ID": "x"})


def test_a_job_is_not_submitted_without_the_credentials_that_it_wants(jobs: JobsStandIn) -> None:
    with pytest.raises(ropewalk.RopewalkError, match="no AWS credentials to forward"):
        batch.run(["true"], forward_aws_credentials=True)
    assert jobs.requests == []
