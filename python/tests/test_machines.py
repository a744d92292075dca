"""Arguments about machines and plans: the fields that are sent, and values that are refused by the argument's name."""

from __future__ import annotations

import base64
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from stand_in import TOKEN, StandIn
from stand_in_jobs import JobsStandIn
from support import Start

import ropewalk
from ropewalk import batch

ARGUMENTS: dict[str, Any] = {
    "worker_vm_types": ["m6i.large", "m5.large"],
    "worker_gpu": True,
    "worker_disk_size": 100,
    "worker_disk_throughput": 250,
    "worker_gpu_type": "nvidia-tesla-t4",
    "scheduler_disk_size": 50,
    "scheduler_gpu": False,
    "use_best_zone": False,
    "tags": {"project": "climate"},
    "scheduler_cpu": [2, 8],
    "scheduler_memory": ("8 GiB", "32 GiB"),
    "arm": False,
    "spot_policy": "spot_with_fallback",
    "region": "us-west-2",
    "allow_ssh": True,
    "allow_ingress_from": "203.0.113.7",
    "wait_for_capacity": "6h",
    "backend_options": {"zone_name": "us-west-2a", "multizone_allow_cross_zone": True, "region_name": "us-west-2"},
}
SENT = {
    "workerVmTypes": ["m6i.large", "m5.large"],
    "workerGpu": True,
    "workerDiskSize": "100 GiB",
    "workerDiskThroughput": 250,
    "workerGpuType": "nvidia-tesla-t4",
    "schedulerDiskSize": "50 GiB",
    "schedulerGpu": False,
    "useBestZone": False,
    "tags": {"project": "climate"},
    "schedulerCpu": [2, 8],
    "schedulerMemory": ["8 GiB", "32 GiB"],
    "arm": False,
    "spotPolicy": "spot_with_fallback",
    "region": "us-west-2",
    "zone": "us-west-2a",
    "allowCrossZone": True,
    "allowSsh": True,
    "allowIngressFrom": "203.0.113.7",
    "waitForCapacity": 21_600,
}


def plan(api: StandIn, **machines: Any) -> Any:
    """The fields that are sent for these arguments."""
    assert ropewalk.plan_cluster(2, api_url=api.url, token=TOKEN, **machines) == api.plan
    return api.sent("/v1/plans/clusters")[-1]


def test_a_cluster_and_its_plan_send_the_same_fields(api: StandIn, start: Start) -> None:
    assert plan(api, **ARGUMENTS) == {"workers": 2, **SENT}
    assert plan(api) == {"workers": 2}
    start(wait_for_workers=False, **ARGUMENTS)
    assert api.sent("/v1/clusters")[0].items() >= SENT.items()


def test_a_job_and_its_plan_send_the_same_fields(jobs: JobsStandIn) -> None:
    options: Any = {"vm_type": "m6i.large", "cpu": 2, "memory": "8 GiB", "gpu": True, "disk_size": 50, "zone": "z"}
    options |= {"provider": "aws", "wait_for_capacity": timedelta(hours=6), "allow_cross_zone": False, "region": None}
    options |= {"scheduler_vm_type": ["m5.large"]}
    sent = {"vmTypes": ["m6i.large"], "cpu": 2, "memory": "8 GiB", "gpu": True, "diskSize": "50 GiB", "zone": "z"}
    sent |= {"provider": "aws", "waitForCapacity": 21_600, "allowCrossZone": False, "command": ["true"], "ntasks": 3}
    sent |= {"schedulerVmTypes": ["m5.large"]}
    assert batch.plan("true", ntasks=3, **options) == jobs.plan
    batch.run("true", ntasks=3, **options)
    assert jobs.sent("/v1/plans/jobs") == jobs.sent("/v1/jobs") == [sent]
    assert len(jobs.jobs) == 1


def test_the_plan_of_a_job_sends_the_beginning_of_its_files_alone(jobs: JobsStandIn, tmp_path: Path) -> None:
    script = tmp_path / "long.sh"
    script.write_text("#!/bin/sh\n" + "#" * 200_000)
    batch.plan("true", upload=script)
    (file,) = jobs.sent("/v1/plans/jobs")[0]["files"]
    assert base64.b64decode(file["content"]) == script.read_bytes()[:65_538]


def test_a_new_cluster_reports_its_price(api: StandIn, start: Start) -> None:
    api.extra = {"pricePerHour": {"firstChoice": 0.892, "max": 2.112}}
    cluster = start(wait_for_workers=False)
    assert "It costs $0.89 to $2.11 per hour" in str(cluster.get_logs(scheduler=False, workers=False)["Cluster"])


def test_the_start_timeout_includes_the_wait_for_capacity(api: StandIn, start: Start) -> None:
    assert start(wait_for_workers=False, wait_for_capacity="6h")._timeout_s == 600 + 21_600
    assert start(wait_for_workers=False, wait_for_capacity="6h", timeout=90)._timeout_s == 90
    assert start(wait_for_workers=False)._timeout_s == 600


@pytest.mark.parametrize(
    ("options", "sent"),
    [
        ({"spot": True}, {"spotPolicy": "spot"}),
        ({"spot": True, "spot_on_demand_fallback": True}, {"spotPolicy": "spot_with_fallback"}),
        ({"spot": False}, {"spotPolicy": "on-demand"}),
        ({"ingress": [{"ports": [8786, 8787], "cidr": "10.0.0.0/8"}]}, {"allowIngressFrom": "10.0.0.0/8"}),
        (
            {"firewall": {"ports": [22, 8787, 8786], "cidr": "0.0.0.0/0"}},
            {"allowSsh": True, "allowSshFrom": "0.0.0.0/0", "allowIngressFrom": "0.0.0.0/0"},
        ),
        (
            {"ingress": [{"ports": [8786], "cidr": "10.0.0.0/8"}, {"ports": [8786], "cidr": "2001:db8::/32"}]},
            {"allowIngressFrom": "10.0.0.0/8,2001:db8::/32"},
        ),
        (
            {"ingress": [{"ports": [9000, 5432], "cidr": "10.0.0.0/8"}, {"ports": [9000, 8787], "cidr": "2001:db8::/32"}]},
            {"openPorts": {"9000": "10.0.0.0/8,2001:db8::/32", "5432": "10.0.0.0/8"}},
        ),
        ({}, {}),
    ],
)
def test_backend_options_of_coiled(api: StandIn, options: Any, sent: Any) -> None:
    assert plan(api, backend_options=options) == {"workers": 2, **sent}


def test_instance_credentials_are_a_flag(api: StandIn) -> None:
    assert plan(api, instance_credentials=True) == {"workers": 2, "instanceCredentials": True}
    with pytest.raises(TypeError, match="instance_credentials is 'yes': give True or False"):
        plan(api, instance_credentials="yes")


def test_me_becomes_the_public_address_of_this_machine(api: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"203.0.113.9\n")

    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("ROPEWALK_ADDRESS_URL", f"http://127.0.0.1:{server.server_port}/")
        sent = plan(api, allow_ingress_from="me,10.0.0.0/8", allow_ssh_from="me")
        server.shutdown()
    assert sent == {"workers": 2, "allowIngressFrom": "203.0.113.9,10.0.0.0/8", "allowSshFrom": "203.0.113.9"}
    monkeypatch.setenv("ROPEWALK_ADDRESS_URL", "file:///etc/hostname")
    with pytest.raises(ValueError, match="the public address of this machine is unknown"):
        plan(api, allow_ingress_from="me")


def test_the_old_name_of_the_spot_policy(api: StandIn) -> None:
    assert plan(api, compute_purchase_option="spot") == {"workers": 2, "spotPolicy": "spot"}
    assert plan(api, compute_purchase_option="spot", spot_policy="spot") == {"workers": 2, "spotPolicy": "spot"}


@pytest.mark.parametrize(
    ("machines", "text"),
    [
        ({"worker_cpus": 4}, "'worker_cpus' is not a keyword argument: did you mean 'worker_cpu'?"),
        ({"worker_cpu": "4"}, "worker_cpu is '4': write it like 4"),
        ({"worker_cpu": [1, 2, 3]}, "worker_cpu is"),
        ({"scheduler_memory": 16}, "scheduler_memory is 16: write it like"),
        ({"worker_vm_types": []}, "worker_vm_types is"),
        ({"worker_gpu": "T4"}, "worker_gpu is 'T4'"),
        ({"worker_disk_size": 0}, "worker_disk_size is 0"),
        ({"worker_disk_throughput": "fast"}, "worker_disk_throughput is 'fast'"),
        ({"tags": {"project": 1}}, "tags is {'project': 1}: write it like"),
        ({"worker_gpu_type": 4}, "worker_gpu_type is 4: give text"),
        ({"spot_policy": "cheap"}, "spot_policy is 'cheap': give one of on-demand, spot"),
        ({"arm": "yes"}, "arm is 'yes': give True or False"),
        ({"region": 1}, "region is 1: give text"),
        ({"wait_for_capacity": "soon"}, "wait_for_capacity is 'soon'"),
        ({"spot_policy": "spot", "compute_purchase_option": "on-demand"}, "compute_purchase_option has 'on-demand'"),
        ({"region": "us-west-2", "backend_options": {"region_name": "us-east-1"}}, "backend_options has 'us-east-1'"),
        ({"backend_options": {"keypair_name": "mine"}}, "backend_options: 'keypair_name' is not supported"),
        ({"backend_options": {"ingress": [{"ports": ["http"], "cidr": "x"}]}}, "'http' is not a port"),
        ({"backend_options": {"firewall": {"ports": [70_000], "cidr": "x"}}}, "70000 is not a port"),
        ({"open_ports": {"9000": "me"}}, "write it like {9000:"),
        ({"backend_options": {"ingress": [{"ports": [22]}]}}, "write a rule of ingress as"),
        ({"scheduler_port": 80}, "scheduler_port is 80: give a port from 1024"),
        ({"use_scheduler_public_ip": "no"}, "use_scheduler_public_ip is 'no': give True or False"),
    ],
)
def test_invalid_machine_arguments_are_refused_by_name(api: StandIn, machines: Any, text: str) -> None:
    with pytest.raises((TypeError, ValueError)) as caught:
        ropewalk.plan_cluster(api_url=api.url, token=TOKEN, **machines)
    assert text in str(caught.value)
    with pytest.raises((TypeError, ValueError)):
        ropewalk.Cluster(api_url=api.url, token=TOKEN, **machines)
    assert api.requests == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"worker_memory": "lots"}, "worker_memory is 'lots': write it like"),
        ({"worker_memory": ["4GiB", "2GiB"]}, "worker_memory is .*: give the smaller end of the range first"),
        ({"worker_cpu": [8, 2]}, "worker_cpu is .*: give the smaller end of the range first"),
        ({"n_workers": [10, 2]}, "n_workers is .*: give the smaller number first"),
        ({"n_workers": [0, 0]}, "at least one worker"),
        ({"n_workers": 2, "wait_for_workers": 9}, "wait_for_workers is 9, and n_workers is 2: so many workers never come"),
        ({"n_workers": [1, 4], "wait_for_workers": 5}, "so many workers never come"),
    ],
)
def test_wrong_amounts_are_refused_before_anything_is_sent(
    start: Start, api: StandIn, arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        start(**arguments)
    assert api.requests == []


def test_errors_and_notes_of_the_server_name_the_arguments(start: Start, api: StandIn, capsys: Any) -> None:
    body = {
        "code": "VALIDATION",
        "field": "schedulerOptions.idle_timeout",
        "message": "schedulerOptions.idle_timeout: Ropewalk sets it itself.",
        "hint": "Use idleTimeout in its place.",
        "requestId": "req_test",
    }
    api.faults.append(("POST", "/v1/clusters", 422, {"error": body}, {}))
    with pytest.raises(ropewalk.RopewalkError) as caught:
        start(package_sync=False)
    assert str(caught.value).startswith("scheduler_options.idle_timeout: Ropewalk sets it itself. Use idle_timeout in its place.")
    assert caught.value.field == "schedulerOptions.idle_timeout"
    api.extra = {"warnings": ["workerMemory, workerVmTypes have no effect here: this provider runs everything on one machine."]}
    start(quiet=False, show_widget=False, n_workers=1, wait_for_workers=False, package_sync=False)
    assert "Note: worker_memory, worker_vm_types have no effect here" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [2.5, None, -1, True, "3"])
def test_scale_refuses_what_is_no_number_of_workers(start: Start, api: StandIn, wrong: Any) -> None:
    cluster = start(n_workers=1, wait_for_workers=False, package_sync=False)
    with pytest.raises(ValueError, match=r"scale\(.*\): give a whole number of workers, 0 or more"):
        cluster.scale(wrong)
    assert api.sent("/scale") == []
