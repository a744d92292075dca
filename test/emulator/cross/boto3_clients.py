"""boto3's clients of an emulated EC2, and the contents of their answers."""

import sys

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
    """The code and the status of a refused call, as boto3 reports them."""
    try:
        call(**arguments)
    except ClientError as error:
        return [error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]]
    return ["not refused", 0]


def pages(operation, key, size, **arguments):
    """The items of a paginator, and the size of each page."""
    paginator = ec2.get_paginator(operation)
    found = [page[key] for page in paginator.paginate(PaginationConfig={"PageSize": size}, **arguments)]
    return [item for page in found for item in page], [len(page) for page in found]
