"""Defaults of the workspace, which an admin sets."""

from __future__ import annotations

from typing import Any

import pytest
from stand_in import TOKEN, StandIn

import ropewalk


def test_all_defaults_are_replaced_by_those_of_the_arguments(api: StandIn) -> None:
    address: Any = {"api_url": api.url, "token": TOKEN}
    coiled = {"region_name": "us-west-2", "zone_name": "us-west-2b", "spot": True}
    set_now = ropewalk.set_backend_options(coiled, allow_cross_zone=False, **address)
    body = {"region": "us-west-2", "zone": "us-west-2b", "spotPolicy": "spot", "allowCrossZone": False}
    assert set_now == body
    assert ropewalk.set_backend_options(workspace="test", **address) == {}
    assert [(method, path, sent) for method, path, sent, _ in api.requests if method == "PUT"] == [
        ("PUT", "/v1/workspace/defaults", body),
        ("PUT", "/v1/workspace/defaults", {}),
    ]
    before = len(api.requests)
    with pytest.raises(ropewalk.RopewalkError, match="The token is of the workspace test, not of other"):
        ropewalk.set_backend_options(workspace="other", region="us-west-2", **address)
    with pytest.raises(ValueError, match="region is 'us-east-1', and backend_options has 'us-west-2'"):
        ropewalk.set_backend_options(coiled, region="us-east-1", **address)
    assert [path for _, path, _, _ in api.requests[before:]] == ["/v1/whoami"]
