"""Speaks to an emulated EC2 as boto3's users do, and prints as JSON what boto3 understood of the answers.

boto3's parsers read an answer by AWS's own description of its shape: what has another name or another form is lost.
"""

import json
import sys
import time
from datetime import datetime

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from answer_shapes import watch

settings = {
    "endpoint_url": sys.argv[1],
    "region_name": "us-east-1",
    "aws_access_key_id": "AKIATEST",
    "aws_secret_access_key": "test",
    "config": Config(retries={"total_max_attempts": 1}),
}
ec2 = boto3.client("ec2", **settings)
ssm = boto3.client("ssm", **settings)
sts = boto3.client("sts", **settings)
logs = boto3.client("logs", **settings)
iam = boto3.client("iam", **settings)
quotas = boto3.client("service-quotas", **settings)

held, unknown = set(), set()
for client in (ec2, ssm, sts, logs, iam, quotas):
    watch(client, held, unknown)

ubuntu = "/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id"
tags = [{"Key": "ropewalk:cluster", "Value": "7"}, {"Key": "owner", "Value": "a & <b>"}]
ours = [{"Name": "tag:ropewalk:cluster", "Values": ["7"]}]


def refused(call, **arguments):
    """The code and the status with which a call is refused, as boto3 tells them."""
    try:
        call(**arguments)
    except ClientError as error:
        return [error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]]
    return ["not refused", 0]


def pages(operation, key, size, **arguments):
    """What a paginator gives, and the size of each page."""
    paginator = ec2.get_paginator(operation)
    found = [page[key] for page in paginator.paginate(PaginationConfig={"PageSize": size}, **arguments)]
    return [item for page in found for item in page], [len(page) for page in found]


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


def account():
    """A network and a role, made and taken away; every step out of order is refused."""
    label = [{"Key": "ropewalk:setup", "Value": "boto3"}]
    tagged = lambda kind: [{"ResourceType": kind, "Tags": label}]
    mine = [{"Name": "tag:ropewalk:setup", "Values": ["boto3"]}]
    vpc = ec2.create_vpc(CidrBlock="10.5.0.0/16", TagSpecifications=tagged("vpc"))["Vpc"]["VpcId"]
    ec2.modify_vpc_attribute(VpcId=vpc, EnableDnsHostnames={"Value": True})
    names = ec2.describe_vpc_attribute(VpcId=vpc, Attribute="enableDnsHostnames")["EnableDnsHostnames"]["Value"]
    gateway = ec2.create_internet_gateway(TagSpecifications=tagged("internet-gateway"))["InternetGateway"]
    gateway = gateway["InternetGatewayId"]
    table = ec2.create_route_table(VpcId=vpc, TagSpecifications=tagged("route-table"))["RouteTable"]["RouteTableId"]
    out = {"RouteTableId": table, "DestinationCidrBlock": "0.0.0.0/0", "GatewayId": gateway}
    detached = refused(ec2.create_route, **out)
    ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    ec2.create_route(**out)
    place = {"VpcId": vpc, "CidrBlock": "10.5.0.0/20", "AvailabilityZone": "us-east-1b"}
    subnet = ec2.create_subnet(**place, TagSpecifications=tagged("subnet"))["Subnet"]["SubnetId"]
    overlapping = refused(ec2.create_subnet, **place)
    outside = refused(ec2.create_subnet, VpcId=vpc, CidrBlock="10.6.0.0/20")
    association = ec2.associate_route_table(RouteTableId=table, SubnetId=subnet)["AssociationId"]
    group = ec2.create_security_group(GroupName="boto3-own", Description="own", VpcId=vpc)["GroupId"]
    own = [{"IpProtocol": "-1", "UserIdGroupPairs": [{"GroupId": group}]}]
    ec2.authorize_security_group_ingress(GroupId=group, IpPermissions=own)
    [described] = ec2.describe_security_groups(GroupIds=[group])["SecurityGroups"]
    found = [
        len(ec2.describe_vpcs(Filters=mine)["Vpcs"]),
        len(ec2.describe_internet_gateways(Filters=mine)["InternetGateways"]),
        len(ec2.describe_route_tables(Filters=mine)["RouteTables"]),
        len(ec2.describe_subnets(Filters=mine)["Subnets"]),
    ]
    held = [
        refused(ec2.delete_vpc, VpcId=vpc),
        refused(ec2.delete_route_table, RouteTableId=table),
        refused(ec2.delete_internet_gateway, InternetGatewayId=gateway),
    ]
    ec2.revoke_security_group_ingress(GroupId=group, IpPermissions=own)
    ec2.delete_security_group(GroupId=group)
    ec2.disassociate_route_table(AssociationId=association)
    ec2.delete_route_table(RouteTableId=table)
    ec2.delete_subnet(SubnetId=subnet)
    ec2.detach_internet_gateway(InternetGatewayId=gateway, VpcId=vpc)
    ec2.delete_internet_gateway(InternetGatewayId=gateway)
    ec2.delete_vpc(VpcId=vpc)
    return {
        "names": names,
        "refusals": [detached, overlapping, outside],
        "self": described["IpPermissions"][0]["UserIdGroupPairs"][0]["GroupId"] == group,
        "found": found,
        "held": held,
        "vpcs": len(ec2.describe_vpcs()["Vpcs"]),
        **identity(label),
    }


def identity(label):
    role = {"RoleName": "boto3"}
    iam.create_role(**role, AssumeRolePolicyDocument='{"Statement": []}', Tags=label)
    again = refused(iam.create_role, **role, AssumeRolePolicyDocument="{}")
    iam.put_role_policy(**role, PolicyName="inline", PolicyDocument='{"a": "b c"}')
    profile = {"InstanceProfileName": "boto3"}
    iam.create_instance_profile(**profile, Tags=label)
    iam.add_role_to_instance_profile(**profile, **role)
    second = refused(iam.add_role_to_instance_profile, **profile, **role)
    shown = iam.get_instance_profile(**profile)["InstanceProfile"]
    arn = iam.create_policy(PolicyName="boto3", PolicyDocument="{}", Tags=label)["Policy"]["Arn"]
    iam.attach_role_policy(**role, PolicyArn=arn)
    entities = iam.list_entities_for_policy(PolicyArn=arn)["PolicyRoles"]
    iam.create_policy_version(PolicyArn=arn, PolicyDocument='{"v": 2}', SetAsDefault=True)
    current = iam.get_policy(PolicyArn=arn)["Policy"]["DefaultVersionId"]
    document = iam.get_policy_version(PolicyArn=arn, VersionId=current)["PolicyVersion"]["Document"]
    versions = [version["VersionId"] for version in iam.list_policy_versions(PolicyArn=arn)["Versions"]]
    held = [refused(iam.delete_role, **role), refused(iam.delete_policy, PolicyArn=arn)]
    inline = iam.get_role_policy(**role, PolicyName="inline")["PolicyDocument"]
    iam.list_attached_role_policies(**role)
    iam.detach_role_policy(**role, PolicyArn=arn)
    iam.delete_policy_version(PolicyArn=arn, VersionId="v1")
    iam.delete_policy(PolicyArn=arn)
    iam.remove_role_from_instance_profile(**profile, **role)
    iam.delete_instance_profile(**profile)
    iam.delete_role_policy(**role, PolicyName=iam.list_role_policies(**role)["PolicyNames"][0])
    iam.delete_role(**role)
    iam.create_service_linked_role(AWSServiceName="spot.amazonaws.com")
    standard = {"ServiceCode": "ec2", "QuotaCode": "L-1216C47A"}
    value = quotas.get_service_quota(**standard)["Quota"]["Value"]
    asked = quotas.request_service_quota_increase(**standard, DesiredValue=64)["RequestedQuota"]["Status"]
    return {
        "identity": [again, second, *held],
        "role": shown["Roles"][0]["RoleName"],
        "tags": [iam.get_role(RoleName="AWSServiceRoleForEC2Spot")["Role"]["Path"], shown["Tags"]],
        "policy": [document, versions, inline, len(entities)],
        "gone": refused(iam.get_role, **role),
        "quota": [value, asked, refused(quotas.request_service_quota_increase, **standard, DesiredValue=65)],
        "history": len(quotas.list_requested_service_quota_change_history_by_quota(**standard)["RequestedQuotas"]),
        "quotas": len(quotas.list_service_quotas(ServiceCode="ec2")["Quotas"]),
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
