"""Compares each answer with AWS's own description of its shape, which comes with boto3.

boto3's parsers ignore unknown members; this module collects them: AWS sends no answer with an
unknown name.
"""

import json
from xml.etree import ElementTree


def watch(client, held, found):
    """Adds each checked operation to `held`, and each member outside AWS's description to `found`.
    """

    def before_parse(operation_model, response_dict, **_):
        if response_dict["status_code"] >= 300 or operation_model.output_shape is None:
            return
        held.add(operation_model.name)
        shape, body = operation_model.output_shape, response_dict["body"]
        if client.meta.service_model.metadata["protocol"] == "json":
            _json(shape, json.loads(body or b"{}"), operation_model.name, found)
            return
        root = ElementTree.fromstring(body)
        wrapper = shape.serialization.get("resultWrapper")
        _xml(shape, root if wrapper is None else _named(root, wrapper), operation_model.name, found)

    client.meta.events.register("before-parse", before_parse)


def _xml(shape, node, path, found):
    children = list(node)
    if shape.type_name == "structure":
        members = {member.serialization.get("name", name): member for name, member in shape.members.items()}
        for child in children:
            name = _tag(child)
            if name in members:
                _xml(members[name], child, f"{path}.{name}", found)
            elif name not in ("requestId", "ResponseMetadata"):
                found.add(f"{path}.{name}")
    elif shape.type_name == "list":
        wanted = shape.member.serialization.get("name", "member")
        for child in children:
            if _tag(child) == wanted:
                _xml(shape.member, child, f"{path}[]", found)
            else:
                found.add(f"{path}.{_tag(child)}")
    elif children:
        found.add(f"{path} is no {shape.type_name}")


def _json(shape, value, path, found):
    if shape.type_name == "structure":
        for name, inner in value.items():
            if name in shape.members:
                _json(shape.members[name], inner, f"{path}.{name}", found)
            else:
                found.add(f"{path}.{name}")
    elif shape.type_name == "list":
        for inner in value:
            _json(shape.member, inner, f"{path}[]", found)
    elif isinstance(value, (dict, list)):
        found.add(f"{path} is no {shape.type_name}")


def _named(root, name):
    return next(child for child in root if _tag(child) == name)


def _tag(node):
    return node.tag.rpartition("}")[2]
