"""Compares JSON with the schemas of Google's discovery document, as google-api-python-client
contains it.

Reads a list of {what, schema, value} from standard input, prints a list of deviations.
"""

import json
import os
import sys

import googleapiclient.discovery_cache

folder = os.path.join(os.path.dirname(googleapiclient.discovery_cache.__file__), "documents")
with open(os.path.join(folder, "compute.v1.json"), encoding="utf-8") as file:
    schemas = json.load(file)["schemas"]

types = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "array": list, "object": dict}
problems = []


def check(where, value, schema):
    if "$ref" in schema:
        return check(where, value, schemas[schema["$ref"]])
    kind = schema.get("type")
    if kind == "any":
        return None
    if not isinstance(value, types[kind]) or (kind != "boolean" and isinstance(value, bool)):
        problems.append(f"{where}: {json.dumps(value)[:80]} is not of type {kind}")
    elif kind == "array":
        for at, each in enumerate(value):
            check(f"{where}[{at}]", each, schema["items"])
    elif kind == "object":
        fields, others = schema.get("properties", {}), schema.get("additionalProperties")
        for key, each in value.items():
            if key in fields:
                check(f"{where}.{key}", each, fields[key])
            elif others is not None:
                check(f"{where}.{key}", each, others)
            else:
                problems.append(f"{where} has no field {key}")
    elif "enum" in schema and value not in schema["enum"]:
        problems.append(f"{where}: {value} is none of {', '.join(schema['enum'])}"[:300])
    return None


for one in json.load(sys.stdin):
    check(one["what"], one["value"], {"$ref": one["schema"]})
print(json.dumps(problems))
