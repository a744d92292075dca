"""Compares calls and answers with Google's discovery documents, as google-api-python-client
contains them.

The argument is a file with a call a line; prints the called methods and the deviations.
"""

import json
import os
import re
import sys
from urllib.parse import parse_qs, urlsplit

import googleapiclient.discovery_cache

folder = os.path.join(os.path.dirname(googleapiclient.discovery_cache.__file__), "documents")
apis = ["compute.v1", "iam.v1", "serviceusage.v1", "cloudresourcemanager.v1", "storage.v1", "logging.v2"]
types = {"string": str, "boolean": bool, "integer": int, "number": (int, float), "array": list, "object": dict}
methods, called, problems = [], set(), set()


def expression(path):
    """A pattern of a path with `{name}` or `{+name}`, each a segment without slashes."""
    return re.compile("^" + re.sub(r"\\\{(\\\+)?\w+\\\}", "[^/:]+", re.escape(path)) + "$")


def collect(document, resource):
    for method in resource.get("methods", {}).values():
        base = "/" + document["servicePath"]
        paths = [base + method.get("flatPath", method["path"])]
        uploads = method.get("mediaUpload", {}).get("protocols", {})
        paths += [upload["path"] for upload in uploads.values()]
        for path in paths:
            methods.append((method["httpMethod"], expression(path), method, document))
    for inner in resource.get("resources", {}).values():
        collect(document, inner)


def check(document, where, value, schema):
    if "$ref" in schema:
        return check(document, where, value, document["schemas"][schema["$ref"]])
    kind = schema.get("type", "any")
    if kind == "any":
        return None
    if not isinstance(value, types[kind]) or (kind != "boolean" and isinstance(value, bool)):
        problems.add(f"{where} is not of type {kind}")
    elif kind == "array":
        for each in value:
            check(document, f"{where}[]", each, schema["items"])
    elif kind == "object":
        fields, others = schema.get("properties", {}), schema.get("additionalProperties")
        for key, each in value.items():
            if key in fields:
                check(document, f"{where}.{key}", each, fields[key])
            elif others is not None:
                check(document, f"{where}.*", each, others)
            else:
                problems.add(f"{where} has no field {key}")
    elif "enum" in schema and value not in schema["enum"]:
        problems.add(f"{where}: {value} is none of its values")
    return None


def check_query(name, query, parameters):
    for key, values in query.items():
        known = parameters.get(key)
        if known is None:
            problems.add(f"{name} has no parameter {key}")
        elif "enum" in known and values[0] not in known["enum"]:
            problems.add(f"{name}: {key}={values[0]} is none of its values")
        elif "maximum" in known and int(values[0]) > int(known["maximum"]):
            problems.add(f"{name}: {key}={values[0]} is too large")
    for key, known in parameters.items():
        if known.get("required") and known["location"] == "query" and key not in query:
            problems.add(f"{name} needs the parameter {key}")


def check_call(call):
    url = urlsplit(call["url"])
    found = next((each for each in methods if each[0] == call["method"] and each[1].match(url.path)), None)
    if found is None:
        problems.add(f"there is no {call['method']} {url.path}")
        return
    _, _, method, document = found
    name = method["id"]
    called.add(name)
    query = parse_qs(url.query, keep_blank_values=True)
    check_query(name, query, {**document.get("parameters", {}), **method.get("parameters", {})})
    is_json = call["contentType"].startswith("application/json") or call["contentType"] == ""
    # The client of Compute Engine sends an empty text where a method has no body.
    if call["body"] not in ("", '""', "{}") and is_json and "mediaUpload" not in method:
        if "request" in method:
            check(document, f"{name}, request", json.loads(call["body"]), method["request"])
        else:
            problems.add(f"{name} has no request body")
    if call["status"] < 300 and call["answer"] is not None and "response" in method:
        check(document, f"{name}, answer", call["answer"], method["response"])


for api in apis:
    with open(os.path.join(folder, f"{api}.json"), encoding="utf-8") as file:
        discovery = json.load(file)
    collect(discovery, discovery)
with open(sys.argv[1], encoding="utf-8") as calls:
    for line in calls:
        check_call(json.loads(line))
print(json.dumps({"called": sorted(called), "problems": sorted(problems)}))
