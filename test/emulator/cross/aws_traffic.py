"""Compares calls with botocore's service models: names, types, values, bounds, and required
members.

The argument is a file with a call a line; prints the called operations and the deviations.
"""

import json
import re
import sys
from urllib.parse import parse_qsl

import botocore.loaders
from botocore.model import ServiceModel

loader = botocore.loaders.create_loader()
files = {"ec2": "ec2", "sts": "sts", "iam": "iam", "ssm": "ssm", "logs": "logs", "servicequotas": "service-quotas"}
models = {name: ServiceModel(loader.load_service_model(file, "service-2")) for name, file in files.items()}
called, problems = set(), set()


def tree(fields):
    root = {}
    for name, value in fields:
        node = root
        *parts, last = name.split(".")
        for part in parts:
            node = node.setdefault(part, {})
        node[last] = value
    return root


def query_names(shape, protocol):
    """The wire names of a structure's members, by its protocol."""
    names = {}
    for name, member in shape.members.items():
        given = member.serialization
        if protocol == "ec2":
            plain = given.get("name", name)
            names[given.get("queryName", plain[0].upper() + plain[1:])] = (name, member)
        else:
            names[given.get("name", name)] = (name, member)
    return names


def check_query(shape, node, where, protocol):
    kind = shape.type_name
    if kind == "structure" and isinstance(node, dict):
        names = query_names(shape, protocol)
        for key, value in node.items():
            if key in names:
                check_query(names[key][1], value, f"{where}.{key}", protocol)
            else:
                problems.add(f"{where} has no {key}")
        given = {names[key][0] for key in node if key in names}
        problems.update(f"{where} lacks {name}" for name in shape.required_members if name not in given)
    elif kind == "list" and isinstance(node, dict):
        wrapper = shape.member.serialization.get("name", "member")
        items = node.get(wrapper, node) if protocol == "query" else node
        for value in items.values():
            check_query(shape.member, value, f"{where}[]", protocol)
    elif kind in ("structure", "list"):
        problems.add(f"{where} is not a {kind}")
    else:
        check_value(shape, node, where)


def check_json(shape, value, where):
    if shape.type_name == "structure":
        for key, inner in value.items():
            if key in shape.members:
                check_json(shape.members[key], inner, f"{where}.{key}")
            else:
                problems.add(f"{where} has no {key}")
        problems.update(f"{where} lacks {name}" for name in shape.required_members if name not in value)
    elif shape.type_name == "list":
        for inner in value:
            check_json(shape.member, inner, f"{where}[]")
    elif shape.type_name != "map":
        check_value(shape, str(value).lower() if isinstance(value, bool) else str(value), where)


patterns = {"boolean": r"true|false", "integer": r"-?\d+", "long": r"-?\d+", "double": r"-?[\d.]+", "float": r"-?[\d.]+"}


def check_value(shape, value, where):
    if not isinstance(value, str) or not re.fullmatch(patterns.get(shape.type_name, r"(?s).*"), value):
        problems.add(f"{where} is not a {shape.type_name}")
        return
    size = float(value) if shape.type_name in ("integer", "long") else len(value)
    bounds = shape.metadata
    if not bounds.get("min", size) <= size <= bounds.get("max", size):
        problems.add(f"{where} is not within its bounds")
    if shape.type_name == "string" and shape.enum and value not in shape.enum:
        problems.add(f"{where}: {value} is none of its values")


for line in open(sys.argv[1], encoding="utf-8"):
    call = json.loads(line)
    model = models[call["service"]]
    operation = model.operation_model(call["action"])
    called.add(f"{call['service']}:{operation.name}")
    protocol = model.metadata["protocol"]
    if protocol == "json":
        check_json(operation.input_shape, json.loads(call["body"]), operation.name)
    elif operation.input_shape is not None:
        fields = [pair for pair in parse_qsl(call["body"], keep_blank_values=True) if pair[0] not in ("Action", "Version")]
        check_query(operation.input_shape, tree(fields), operation.name, protocol)
print(json.dumps({"called": sorted(called), "problems": sorted(problems)}))
