"""Calls an emulated EC2 as boto3's users do, and prints boto3's reading of the answers as JSON.

boto3's parsers read an answer by AWS's own description of its shape: members of another name or
form are lost.
"""

import json
import time
from datetime import datetime

from boto3_account import account
from boto3_clients import ec2, held, logs, ours, pages, refused, ssm, sts, tags, ubuntu, unknown


def launches():
    image = ssm.get_parameter(Name=ubuntu)["Parameter"]["Value"]
    template = ec2.create_launch_template(
        LaunchTemplateName="boto3",
        LaunchTemplateData={
            "ImageId": image,
            "UserData": "IyEvYmluL3NoCg==",
            "IamInstanceProfile": {"Name": "ropewalk"},
            "InstanceInitiatedShutdownBehavior": "terminate",
            "MetadataOptions": {"HttpTokens": "required"},
            "NetworkInterfaces": [{"DeviceIndex": 0, "Groups": ["sg-cluster"], "AssociatePublicIpAddress": True}],
        },
        TagSpecifications=[{"ResourceType": "launch-template", "Tags": tags}],
    )["LaunchTemplate"]
    run = {
        "LaunchTemplate": {"LaunchTemplateName": "boto3", "Version": "1"},
        "InstanceType": "m6i.large",
        "NetworkInterfaces": [
            {
                "DeviceIndex": 0,
                "SubnetId": "subnet-us-east-1a",
                "Groups": ["sg-cluster"],
                "AssociatePublicIpAddress": True,
            }
        ],
        "MinCount": 1,
        "MaxCount": 3,
        "TagSpecifications": [{"ResourceType": "instance", "Tags": tags}],
    }
    dry = refused(ec2.run_instances, **run, DryRun=True)
    reservation = ec2.run_instances(**run, ClientToken="run")
    again = ec2.run_instances(**run, ClientToken="run")
    fleet = {
        "Type": "instant",
        "ClientToken": "fleet",
        "LaunchTemplateConfigs": [
            {
                "LaunchTemplateSpecification": {"LaunchTemplateName": "boto3", "Version": "1"},
                "Overrides": [
                    {"InstanceType": kind, "SubnetId": "subnet-us-east-1b"} for kind in ("m6i.large", "m5.large")
                ],
            }
        ],
        "TargetCapacitySpecification": {"TotalTargetCapacity": 4, "DefaultTargetCapacityType": "on-demand"},
        "OnDemandOptions": {"SingleAvailabilityZone": True, "MinTargetCapacity": 1},
        "TagSpecifications": [{"ResourceType": "instance", "Tags": tags}],
    }
    answer = ec2.create_fleet(**fleet)
    full = {"SingleAvailabilityZone": True, "MinTargetCapacity": 4}
    only = {**fleet["LaunchTemplateConfigs"][0], "Overrides": [{"InstanceType": "m6i.large", "SubnetId": "subnet-us-east-1b"}]}
    short = ec2.create_fleet(**{**fleet, "ClientToken": "short", "OnDemandOptions": full, "LaunchTemplateConfigs": [only]})
    described, sizes = pages("describe_instances", "Reservations", 5, Filters=ours)
    instances = [instance for each in described for instance in each["Instances"]]
    ids = sorted(instance["InstanceId"] for instance in instances)
    ec2.describe_volumes(Filters=ours)
    vpc = ec2.describe_security_groups(GroupIds=["sg-cluster"])["SecurityGroups"][0]["VpcId"]
    specification = [{"ResourceType": "security-group", "Tags": tags}]
    group = ec2.create_security_group(GroupName="boto3", Description="ingress", VpcId=vpc, TagSpecifications=specification)
    ssh = {"IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "203.0.113.7/32"}]}
    ec2.authorize_security_group_ingress(GroupId=group["GroupId"], IpPermissions=[ssh])
    [ingress] = ec2.describe_security_groups(Filters=ours)["SecurityGroups"]
    ec2.delete_security_group(GroupId=group["GroupId"])
    console = ec2.get_console_output(InstanceId=ids[0])
    ended = ec2.terminate_instances(InstanceIds=ids)["TerminatingInstances"]
    one = instances[0]
    return {
        "image": image,
        "template": {key: template[key] for key in ("LaunchTemplateName", "DefaultVersionNumber", "Tags")},
        "templates": len(ec2.describe_launch_templates(Filters=ours)["LaunchTemplates"]),
        "dry": dry,
        "ingress": [
            (rule["FromPort"], rule["ToPort"], rule["IpRanges"][0]["CidrIp"]) for rule in ingress["IpPermissions"]
        ],
        "run": len(reservation["Instances"]),
        "runAgain": [i["InstanceId"] for i in reservation["Instances"]] == [i["InstanceId"] for i in again["Instances"]],
        "reservationOwner": reservation["OwnerId"],
        "fleet": [
            [
                group["InstanceType"],
                group["Lifecycle"],
                group["LaunchTemplateAndOverrides"]["Overrides"]["SubnetId"],
                len(group["InstanceIds"]),
            ]
            for group in answer["Instances"]
        ],
        "fleetErrors": [
            [error["ErrorCode"], error["LaunchTemplateAndOverrides"]["Overrides"]["InstanceType"]]
            for error in answer["Errors"]
        ],
        "shortFleet": [
            [error["ErrorCode"], error["LaunchTemplateAndOverrides"]["Overrides"]["InstanceType"]]
            for error in short["Errors"]
        ],
        "fleetAgain": ec2.create_fleet(**fleet)["FleetId"] == answer["FleetId"],
        "pages": sizes,
        "states": sorted({instance["State"]["Name"] for instance in instances}),
        "launchTimes": all(isinstance(instance["LaunchTime"], datetime) for instance in instances),
        "one": {
            "ImageId": one["ImageId"],
            "Tags": one["Tags"],
            "SecurityGroups": [group["GroupId"] for group in one["SecurityGroups"]],
            "Profile": one["IamInstanceProfile"]["Arn"],
            "HttpTokens": one["MetadataOptions"]["HttpTokens"],
            "Zones": sorted({instance["Placement"]["AvailabilityZone"] for instance in instances}),
            "HasPublicIp": "PublicIpAddress" in one,
            "DeleteOnTermination": one["BlockDeviceMappings"][0]["Ebs"]["DeleteOnTermination"],
        },
        "consoleOf": console["InstanceId"] == ids[0],
        "ended": sorted(each["InstanceId"] for each in ended) == ids,
        "endedStates": sorted({(each["PreviousState"]["Name"], each["CurrentState"]["Name"]) for each in ended}),
        "reasons": sorted(
            {
                instance["StateReason"]["Code"]
                for each in ec2.describe_instances(InstanceIds=ids)["Reservations"]
                for instance in each["Instances"]
            }
        ),
        "deleted": ec2.delete_launch_template(LaunchTemplateName="boto3")["LaunchTemplate"]["LaunchTemplateName"],
        "unknownTemplate": refused(ec2.delete_launch_template, LaunchTemplateName="boto3"),
        "unknownInstance": refused(ec2.describe_instances, InstanceIds=["i-00000000000000000"]),
        "unknownType": refused(ec2.run_instances, ImageId=image, InstanceType="m99.large", MinCount=1, MaxCount=1),
    }


def reading():
    types, sizes = pages("describe_instance_types", "InstanceTypes", 10)
    gpu = next(each for each in types if each["InstanceType"] == "g4dn.xlarge")
    offerings, _ = pages("describe_instance_type_offerings", "InstanceTypeOfferings", 50, LocationType="availability-zone")
    prices, _ = pages("describe_spot_price_history", "SpotPriceHistory", 50, ProductDescriptions=["Linux/UNIX"])
    role = sts.assume_role(RoleArn="arn:aws:iam::123456789012:role/r", RoleSessionName="session")
    return {
        "regions": [each["RegionName"] for each in ec2.describe_regions()["Regions"]],
        "zones": [each["ZoneName"] for each in ec2.describe_availability_zones()["AvailabilityZones"]],
        "subnets": [each["AvailabilityZone"] for each in ec2.describe_subnets()["Subnets"]],
        "image": ec2.describe_images(ImageIds=["ami-0123456789abcdef0"])["Images"][0]["State"],
        "expires": isinstance(role["Credentials"]["Expiration"], datetime),
        "pages": sizes,
        "gpu": {
            "vcpus": gpu["VCpuInfo"]["DefaultVCpus"],
            "memory": gpu["MemoryInfo"]["SizeInMiB"],
            "architectures": gpu["ProcessorInfo"]["SupportedArchitectures"],
            "gpu": [gpu["GpuInfo"]["Gpus"][0]["Name"], gpu["GpuInfo"]["Gpus"][0]["Count"]],
        },
        "offerings": sorted({each["Location"] for each in offerings}),
        "prices": all(float(each["SpotPrice"]) > 0 and isinstance(each["Timestamp"], datetime) for each in prices),
        "identity": sts.get_caller_identity()["Account"],
        "unknownParameter": refused(ssm.get_parameter, Name="/aws/service/nothing"),
    }


def log_events():
    group, stream = "ropewalk/boto3", "7/i-0"
    start = int(time.time() * 1000)
    logs.create_log_group(logGroupName=group)
    logs.put_retention_policy(logGroupName=group, retentionInDays=30)
    logs.create_log_stream(logGroupName=group, logStreamName=stream)
    events = [{"timestamp": start + at, "message": f"line {at}"} for at in range(5)]
    logs.put_log_events(logGroupName=group, logStreamName=stream, logEvents=events)
    paginator = logs.get_paginator("filter_log_events")
    arguments = {"logGroupName": group, "logStreamNamePrefix": "7/", "PaginationConfig": {"PageSize": 2}}
    found = [page["events"] for page in paginator.paginate(**arguments)]
    return {
        "pages": [len(page) for page in found],
        "messages": [event["message"] for page in found for event in page],
        "streams": sorted({event["logStreamName"] for page in found for event in page}),
        "ids": len({event["eventId"] for page in found for event in page}),
        "described": [
            [each["logGroupName"], each["retentionInDays"]] for each in logs.describe_log_groups()["logGroups"]
        ],
        "describedStreams": len(logs.describe_log_streams(logGroupName=group)["logStreams"]),
        "got": len(logs.get_log_events(logGroupName=group, logStreamName=stream)["events"]),
        "groupAgain": refused(logs.create_log_group, logGroupName=group),
        "unknownGroup": refused(logs.filter_log_events, logGroupName="ropewalk/nothing"),
        "outOfOrder": refused(
            logs.put_log_events, logGroupName=group, logStreamName=stream, logEvents=list(reversed(events))
        ),
    }


found = {"launches": launches(), "reading": reading(), "logs": log_events(), "account": account()}
print(json.dumps({**found, "held": sorted(held), "notOfAws": sorted(unknown)}))
