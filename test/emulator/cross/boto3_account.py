"""The calls of `ropewalk setup aws`: a network, a role and its policies, quotas."""

from boto3_clients import ec2, iam, quotas, refused


def account():
    """Creates and deletes a network and a role; every step out of order is refused."""
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
