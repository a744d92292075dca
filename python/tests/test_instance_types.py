"""Instance types: the filters of `coiled.list_instance_types`."""

from __future__ import annotations

from typing import Any

import pytest
from stand_in import TOKEN, StandIn

import ropewalk


def offer(name: str, vcpus: int, gib: int, gpus: int = 0) -> dict[str, Any]:
    """An answer of GET /v1/instance-types."""
    return {
        "type": name,
        "provider": "aws",
        "vcpus": vcpus,
        "memoryBytes": gib * 2**30,
        "architecture": "x86_64",
        "gpus": gpus,
        "gpuName": "T4" if gpus else None,
        "pricePerHour": 0.1 * vcpus,
        "spotPricePerHour": None,
        "zones": ["us-east-1a"],
    }


@pytest.mark.parametrize(
    ("filters", "names"),
    [
        ({}, ["small", "middle", "large", "gpu"]),
        ({"cores": 4}, ["middle", "gpu"]),
        ({"cores": [2, 4]}, ["small", "middle", "gpu"]),
        ({"min_cores": 4, "gpus": 0}, ["middle", "large"]),
        ({"memory": "17 GB"}, ["middle", "gpu"]),
        ({"memory": ["8 GiB", "16 GiB"], "min_memory": 9 * 2**30}, ["middle", "gpu"]),
        ({"min_gpus": 1}, ["gpu"]),
        ({"min_memory": "1 TiB"}, []),
    ],
)
def test_types_are_filtered_by_value_range_and_minimum(api: StandIn, filters: Any, names: list[str]) -> None:
    api.types = [offer("small", 2, 8), offer("middle", 4, 16), offer("large", 16, 64), offer("gpu", 4, 16, gpus=1)]
    assert list(ropewalk.list_instance_types(api_url=api.url, token=TOKEN, **filters)) == names


def test_a_type_has_the_fields_of_coiled_and_its_prices(api: StandIn) -> None:
    api.types = [offer("g4dn.xlarge", 4, 16, gpus=1)]
    found = ropewalk.list_instance_types("aws", arch="x86_64", region="us-east-1", api_url=api.url, token=TOKEN)
    assert found["g4dn.xlarge"] == {
        "name": "g4dn.xlarge",
        "cores": 4,
        "gpus": 1,
        "gpu_name": "T4",
        "memory": 16 * 1024,
        "backend_type": "aws",
        "arch": "x86_64",
        "price_per_hour": 0.4,
        "spot_price_per_hour": None,
        "zones": ["us-east-1a"],
    }
    assert api.requests[-1][1] == "/v1/instance-types?provider=aws&region=us-east-1&arm=false"


@pytest.mark.parametrize("wrong", [{"cores": "4"}, {"gpus": True}, {"memory": "much"}, {"cores": [1]}, {"arch": "sparc"}])
def test_an_invalid_filter_is_refused_by_name(api: StandIn, wrong: Any) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ropewalk.list_instance_types(api_url=api.url, token=TOKEN, **wrong)
    assert api.requests == []
