"""The types of the API's answers have no field that the API does not send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, get_args, get_type_hints, is_typeddict

import pytest

from ropewalk import past, views
from ropewalk.batch import past as job_past
from ropewalk.batch import views as job_views
from ropewalk.costs import Costs

_SCHEMAS = json.loads((Path(__file__).parents[2] / "docs/openapi.json").read_text("utf-8"))["components"]["schemas"]
_TYPES = {
    "Cluster": views.ClusterView,
    "ClusterAt": past.PastCluster,
    "ClusterEvent": views.Event,
    "Costs": Costs,
    "CreatedCluster": views.Created,
    "Credentials": views.Credentials,
    "DashboardLink": views.DashboardLink,
    "Job": job_views.Job,
    "JobAt": past.PastJob,
    "JobEvent": job_views.JobEvent,
    "LogLine": job_views.TaskLine,
    "Plan": views.Plan,
    "TaskStates": job_past.TaskStates,
    "Why": views.Why,
}


def unknown_fields(kind: Any, schema: Any, path: str) -> list[str]:
    """Paths of the fields of a typed dictionary, also inside lists and unions, that the schema does not have."""
    if not is_typeddict(kind):
        return [one for part in get_args(kind) for one in unknown_fields(part, schema, path)]
    properties = properties_of(schema)
    found = []
    for name, hint in get_type_hints(kind).items():
        below = f"{path}.{name}"
        found += unknown_fields(hint, properties[name], below) if name in properties else [below]
    return found


def properties_of(schema: Any) -> dict[str, Any]:
    """Of an object, or of the objects in an array or a union."""
    if "$ref" in schema:
        return properties_of(_SCHEMAS[schema["$ref"].rpartition("/")[2]])
    found: dict[str, Any] = dict(schema.get("properties", {}))
    for part in [*schema.get("anyOf", []), *schema.get("oneOf", []), *schema.get("allOf", []), *([schema["items"]] if "items" in schema else [])]:
        found |= properties_of(part)
    return found


@pytest.mark.parametrize("name", _TYPES)
def test_the_types_have_the_names_of_the_api(name: str) -> None:
    assert unknown_fields(_TYPES[name], _SCHEMAS[name], name) == []


def test_tasks_have_the_names_of_the_api() -> None:
    assert unknown_fields(job_views.Task, _SCHEMAS["TaskPage"]["properties"]["items"], "Task") == []
