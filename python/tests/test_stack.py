"""A real Ropewalk, whose agents run real scheduler and worker processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import HTTPCookieProcessor, ProxyHandler, build_opener

import dask
import pytest
from distributed import Client

import ropewalk
from ropewalk.client_api import ClientApi
from ropewalk.config import Config

pytestmark = pytest.mark.stack

Stack = dict[str, Any]


def view_of(stack: Stack, number: int | None) -> Any:
    return asyncio.run(ClientApi(Config(stack["api_url"], stack["token"])).get(f"/v1/clusters/{number}"))


def eventually(check: Callable[[], Any], within_s: float = 150) -> Any:
    deadline = time.monotonic() + within_s
    while not (found := check()):
        assert time.monotonic() < deadline, "it did not become so in time"
        time.sleep(0.1)
    return found


def open_dashboard(cluster: ropewalk.Cluster) -> str:
    """Like a browser: the link sets a cookie that opens the pages."""
    browser = build_opener(ProxyHandler({}), HTTPCookieProcessor())
    link = cluster.get_dashboard_link()
    with browser.open(link, timeout=30) as page:
        page.read()
    with browser.open(link.partition("?")[0] + "status", timeout=30) as page:
        return str(page.read().decode())


def listed(stack: Stack, number: int | None) -> Any:
    """The cluster in the list, which follows the cluster's own view: the workflow writes it after each change."""
    return next(one for one in ropewalk.list_clusters(max_pages=1, just_mine=True, **stack) if one["id"] == number)


def becomes_ready(stack: Stack, number: int | None) -> None:
    """A worker is connected to its scheduler before its agent's next report makes the cluster ready on the server."""
    eventually(lambda: listed(stack, number)["status"] == "ready")


def has_ended(stack: Stack, number: int | None) -> Any:
    """The view of the cluster after its end is in the list, and with it its name free."""
    eventually(lambda: listed(stack, number)["status"] in ("stopped", "error"))
    return view_of(stack, number)


def adaptive_maximum(stack: Stack, number: int | None) -> int | None:
    adaptive = view_of(stack, number)["dask"]["adaptive"]
    return None if adaptive is None else int(adaptive["maximum"])


def their_config() -> tuple[Any, Any]:
    return dask.config.get("distributed.comm.timeouts.connect"), dask.config.get("theirs")


def test_from_start_to_end(stack: Stack, capfd: Any) -> None:
    own = dask.config.set({"distributed.comm.timeouts.connect": "77s", "theirs": {"color": "blue", "token": "canary"}})
    with own, ropewalk.Cluster(n_workers=2, environ={"GREETING": "ahoy"}, wait_for_workers=True, **stack) as cluster:
        assert cluster.scheduler_address.startswith("tls://")
        with cluster.get_client() as client:
            assert client.submit(sum, [1, 2, 3]).result() == 6
            assert sum(client.gather(client.map(lambda x: x * x, range(100)))) == 328350
            assert set(client.run(os.getenv, "GREETING").values()) == {"ahoy"}
            read = [*client.run(their_config).values(), client.run_on_scheduler(their_config)]
            assert read == [("77s", {"color": "blue"})] * 3
            assert len(client.run(os.getpid)) == 2
            # The information of a client is replaced at intervals by one without workers.
            names = {str(worker["name"]) for worker in cluster.scheduler_info["workers"].values()}
        assert all(name.startswith(f"{cluster.name}-worker-") for name in names) and len(names) == 2
        assert "workers=2" in repr(cluster) and cluster.name in cluster._repr_html_()
        logs = cluster.get_logs()
        assert "Scheduler at" in logs["Scheduler"]
        assert names <= set(logs)
        assert "bokeh" in open_dashboard(cluster)
    ended = has_ended(stack, cluster.number)
    assert ended["status"] == "stopped"
    first, *rest = cluster.get_events()
    assert first["by"] == ended["user"] and cluster.get_events(after=first["seq"], limit=2) == rest[:2]
    assert list(ropewalk.cluster_events(cluster.number or 0, follow=True, **stack)) == [first, *rest]
    assert f"Created cluster {cluster.number}" in capfd.readouterr().err


def test_in_an_event_loop(stack: Stack) -> None:
    async def run() -> int | None:
        async with ropewalk.Cluster(n_workers=1, asynchronous=True, quiet=True, **stack) as cluster:
            async with Client(cluster, asynchronous=True) as client:
                assert await client.submit(sum, [1, 2, 3]) == 6
            assert "Scheduler at" in (await cluster.get_logs())["Scheduler"]
            await cluster.scale(2)
            await cluster.wait_for_workers()
            assert len(cluster.scheduler_info["workers"]) == 2
            return cluster.number

    assert has_ended(stack, asyncio.run(run()))["status"] == "stopped"


def test_scaling_waiting_and_private_variables(stack: Stack) -> None:
    options: Any = {"wait_for_workers": False, "quiet": True, **stack}
    with ropewalk.Cluster(n_workers=2, **options) as cluster, cluster.get_client() as client:
        cluster.wait_for_workers(0.5)
        cluster.send_private_envs({"PASSWORD": "hush-hush"})
        cluster.wait_for_workers(2)
        kept = client.map(lambda x: x + 1, range(10))
        cluster.scale(3)
        cluster.wait_for_workers(True)
        assert len(cluster.scheduler_info["workers"]) == 3
        assert set(client.run(os.getenv, "PASSWORD").values()) == {"hush-hush"}
        assert client.run_on_scheduler(os.getenv, "PASSWORD") == "hush-hush"
        cluster.scale(1)
        eventually(lambda: len(cluster.scheduler_info["workers"]) == 1)
        assert client.gather(kept) == list(range(1, 11))
        cluster.adapt(minimum=1, maximum=2)
        eventually(lambda: adaptive_maximum(stack, cluster.number) == 2)
        cluster.scale(1)
        eventually(lambda: adaptive_maximum(stack, cluster.number) is None)
        with pytest.raises(ropewalk.ClusterFailedError, match="has 1 workers, fewer than 5"):
            cluster.wait_for_workers(5, timeout=60)
        assert all("hush-hush" not in text for text in cluster.get_logs().values())


def test_a_name_is_used_again(stack: Stack) -> None:
    name = f"shared-{uuid.uuid4().hex[:8]}"
    first = ropewalk.Cluster(n_workers=1, name=name, quiet=True, **stack)
    with first.get_client() as client:
        client.publish_dataset(shared=client.submit(sum, [1, 2]))
    with ropewalk.Cluster(name=name, quiet=True, **stack) as second:
        assert (second.number, second.shutdown_on_close) == (first.number, False)
        with second.get_client() as client:
            assert client.get_dataset("shared").result() == 3
    becomes_ready(stack, first.number)
    first.shutdown()
    assert first.status.name == "closed"
    # Its name is free after its end: until then this waits.
    with ropewalk.Cluster(n_workers=0, name=name, quiet=True, **stack) as third:
        assert third.number != first.number and third.shutdown_on_close


_PROGRAM = """
import sys

import only_here
import ropewalk

with ropewalk.Cluster(sys.argv[1], n_workers=1, package_sync_only=["only_here"], quiet=True, shutdown_on_close=False) as cluster:
    client = cluster.get_client()
    for function, argument in ((__import__, "only_here"), (only_here.triple, 2)):
        try:
            client.submit(function, argument).result()
        except Exception as error:
            print(repr(error.__cause__ or error))
"""


def test_a_module_that_an_existing_cluster_lacks_is_explained(stack: Stack, tmp_path: Path) -> None:
    (tmp_path / "only_here.py").write_text("def triple(x):\n    return 3 * x\n")
    (tmp_path / "program.py").write_text(_PROGRAM)
    name = f"lacks-{uuid.uuid4().hex[:8]}"
    with ropewalk.Cluster(name, n_workers=1, package_sync=False, quiet=True, **stack) as cluster:
        env = {**os.environ, "PYTHONSAFEPATH": "", "ROPEWALK_API_URL": stack["api_url"], "ROPEWALK_TOKEN": stack["token"]}
        done = subprocess.run([sys.executable, tmp_path / "program.py", name], env=env, capture_output=True, text=True, check=True)
    kept = f"Cluster {cluster.number} keeps the environment that it was started with, which does not have the module only_here"
    # A function of the module fails on the scheduler already, which names the cause.
    assert done.stdout.count(f"ModuleNotFoundError(\"No module named 'only_here'. {kept}") == 2, done.stderr


_ADAPTIVE = """
import sys
import time

import ropewalk

options = dict(word.split("=") for word in sys.argv[1:])
cluster = ropewalk.Cluster(n_workers=[1, 2], package_sync=False, quiet=True, **options)
client = cluster.get_client()
client.submit(time.sleep, 0.1).result()
client.submit(time.sleep, 600).cancel()
# The signal follows. Before the scheduler has the cancellation, it would leave the cluster busy.
while client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks)):
    time.sleep(0.01)
print(cluster.number, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(
    ("number", "option", "code"),
    [(signal.SIGKILL, "keepalive=15 seconds", "NO_CLIENT"), (signal.SIGSTOP, "idle_timeout=30 seconds", "IDLE")],
)
def test_an_adaptive_cluster_goes_on_without_its_client_until_a_rule_ends_it(
    stack: Stack, number: signal.Signals, option: str, code: str
) -> None:
    env = {**os.environ, "ROPEWALK_API_URL": stack["api_url"], "ROPEWALK_TOKEN": stack["token"]}
    process = subprocess.Popen([sys.executable, "-c", _ADAPTIVE, option], env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        cluster = int(process.stdout.readline())
        process.send_signal(number)
        # The scheduler's reports reach the server after the signal too.
        seen = eventually(lambda: (view := view_of(stack, cluster))["dask"] and view["dask"]["idleSince"] and view)
        assert seen["status"] in ("starting", "ready", "scaling") and seen["dask"]["adaptive"]["maximum"] == 2
        ended = has_ended(stack, cluster)
        assert (ended["status"], ended["reason"]["code"]) == ("stopped", code)
    finally:
        process.kill()
        process.communicate()


def test_keepalives_reach_the_server(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = ropewalk.Cluster(n_workers=0, quiet=True, shutdown_on_close=False, **stack)
    keepalive = cluster._remote.keepalive
    beats: list[float] = []

    async def counted(*args: Any) -> None:
        await keepalive(*args)
        beats.append(time.monotonic())

    monkeypatch.setattr(cluster._remote, "keepalive", counted)
    # Beats come each four seconds: on a busy machine one may be several seconds late.
    cluster.set_keepalive("12s")
    # There is no client. Without the beats after the first, the cluster would have ended.
    eventually(lambda: beats and beats[-1] - beats[0] > 16)
    assert view_of(stack, cluster.number)["status"] == "ready"
    cluster.close()
    assert has_ended(stack, cluster.number)["reason"]["code"] == "NO_CLIENT"


def test_a_failed_start_raises_the_reason(stack: Stack) -> None:
    with pytest.raises(ropewalk.ClusterFailedError, match="no-such-package-of-ropewalk"):
        ropewalk.Cluster(
            n_workers=1, requirements=["no-such-package-of-ropewalk==1.0"], quiet=True, timeout="5 minutes", **stack
        )


def test_an_error_of_the_api_names_the_field(stack: Stack) -> None:
    with pytest.raises(ropewalk.RopewalkError) as caught:
        ropewalk.Cluster(n_workers=1, requirements=["--index-url=x"], quiet=True, **stack)
    assert caught.value.code == "VALIDATION" and (caught.value.field or "").startswith("software.requirements.0")
    assert caught.value.request_id


def test_a_cluster_without_an_object(stack: Stack) -> None:
    name = f"alone-{uuid.uuid4().hex[:8]}"
    options: Any = {"n_workers": 1, "package_sync": False, "quiet": True, "shutdown_on_close": False, **stack}
    with ropewalk.Cluster(name, **options) as cluster:
        number = cluster.number
    assert number is not None
    becomes_ready(stack, number)
    assert listed(stack, number)["name"] == name
    used = ropewalk.list_core_usage(**stack)
    assert 0 < used["used"] <= used["limit"] and sum(used["users"].values()) == used["used"]
    ropewalk.delete_cluster(name, **stack)
    assert has_ended(stack, number)["status"] == "stopped"
    logs = ropewalk.cluster_logs(number, **stack)
    assert "Scheduler at" in logs["Scheduler"] and len(logs) == 2
    with pytest.raises(ropewalk.RopewalkError, match=f"No open cluster has the name {name}"):
        ropewalk.delete_cluster(name, **stack)
