"""Calls of google-cloud-compute, Google's own client for Python, to the emulated project; prints
the parsed answers."""

import json
import sys
import time

from google.api_core.exceptions import BadRequest, Conflict, NotFound
from google.cloud import compute_v1 as gce
from google.oauth2.credentials import Credentials

options = {"credentials": Credentials(token="emulated-control-plane"), "client_options": {"api_endpoint": sys.argv[1]}}
project, region, zone = "test-project", "us-central1", "us-central1-a"
image = "projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-amd64"
instances = gce.InstancesClient(**options)
firewalls = gce.FirewallsClient(**options)
bulk = gce.RegionInstancesClient(**options)


def done(operation, client, **where):
    """The library's own wait calls Google, whatever endpoint its client has."""
    while client.get(project=project, operation=operation.name, **where).status != gce.Operation.Status.DONE:
        time.sleep(0.05)


regional, zonal, worldwide = (
    kind(**options) for kind in (gce.RegionOperationsClient, gce.ZoneOperationsClient, gce.GlobalOperationsClient)
)


def properties(machine_type):
    disk = gce.AttachedDisk(
        boot=True,
        auto_delete=True,
        initialize_params=gce.AttachedDiskInitializeParams(source_image=image, disk_size_gb=30, disk_type="pd-balanced"),
    )
    face = gce.NetworkInterface(subnetwork=f"projects/{project}/regions/{region}/subnetworks/ropewalk")
    return gce.InstanceProperties(
        machine_type=machine_type, disks=[disk], network_interfaces=[face], labels={"made-by": "python"}
    )


def insert(machine_type, *names):
    resource = gce.BulkInsertInstanceResource(
        count=len(names),
        min_count=1,
        per_instance_properties={name: gce.BulkInsertInstanceResourcePerInstanceProperties() for name in names},
        instance_properties=properties(machine_type),
        location_policy=gce.LocationPolicy(
            locations={f"zones/{zone}": gce.LocationPolicyLocation(preference="ALLOW")}, target_shape="ANY_SINGLE_ZONE"
        ),
    )
    return bulk.bulk_insert(project=project, region=region, bulk_insert_instance_resource_resource=resource)


def refused(kind, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except kind as error:
        return [error.code, error.errors[0]["reason"]]
    return None


def listed():
    request = gce.AggregatedListInstancesRequest(project=project, filter='labels.made-by = "python"', max_results=1)
    return sorted(
        (each.name, each.status, each.zone.rpartition("/")[2], each.machine_type.rpartition("/")[2])
        for _, scope in instances.aggregated_list(request=request)
        for each in scope.instances
    )


done(insert("n2-standard-2", "from-python-1", "from-python-2"), regional, region=region)
rule = gce.Firewall(
    name="from-python",
    network=f"projects/{project}/global/networks/ropewalk",
    direction="INGRESS",
    source_ranges=["203.0.113.0/24"],
    target_tags=["python"],
    allowed=[gce.Allowed(I_p_protocol="tcp", ports=["22"])],
)
done(firewalls.insert(project=project, firewall_resource=rule), worldwide)
shown = firewalls.get(project=project, firewall="from-python")
before = listed()
taken = refused(Conflict, insert, "n2-standard-2", "from-python-1")
for name in ("from-python-1", "from-python-2"):
    done(instances.delete(project=project, zone=zone, instance=name), zonal, zone=zone)
done(firewalls.delete(project=project, firewall="from-python"), worldwide)
types = gce.MachineTypesClient(**options).list(request=gce.ListMachineTypesRequest(project=project, zone=zone, max_results=5))
print(
    json.dumps(
        {
            "instances": before,
            "rule": [list(shown.source_ranges), shown.allowed[0].I_p_protocol, list(shown.allowed[0].ports)],
            "taken": taken,
            "unknownType": refused(BadRequest, insert, "n9-standard-2", "from-python-3"),
            "gone": refused(NotFound, instances.get, project=project, zone=zone, instance="from-python-1"),
            "left": listed(),
            "types": {each.name: [each.guest_cpus, each.memory_mb] for each in types}["n2-standard-4"],
        }
    )
)
