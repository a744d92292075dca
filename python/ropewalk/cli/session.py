"""The input of every command: the output, and an API client for its connection options."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ropewalk.batch.paths import pages
from ropewalk.cli.errors import Interrupted
from ropewalk.cli.terminal import Output
from ropewalk.client_api import ClientApi
from ropewalk.errors import RopewalkError
from ropewalk.times import iso_of

output = Output()


@contextmanager
def until_interrupted(describe: Callable[[], str]) -> Iterator[None]:
    """Ctrl-C ends this command but not the job or cluster."""
    try:
        yield
    except KeyboardInterrupt:
        raise Interrupted(describe()) from None


def number_of_job(api: ClientApi, reference: int | str) -> int:
    """The newest job of that name: at most one of them is open, and it is the newest."""
    if isinstance(reference, int):
        return reference
    found = pages(api, "/v1/jobs", 1, {"name": reference})
    if found:
        return int(found[0]["number"])
    hint = "ropewalk batch list shows the names of the newest jobs."
    raise RopewalkError(f"no job has the name {reference}", code="NOT_FOUND", status=404, hint=hint)


def number_of_cluster(api: ClientApi, reference: int | str) -> int:
    if isinstance(reference, int):
        return reference
    found = pages(api, "/v1/clusters", 1, {"name": reference, "open": "true"})
    if found:
        return int(found[0]["number"])
    hint = f"An ended one releases its name: find its number with ropewalk cluster list --name {reference}."
    raise RopewalkError(f"no open cluster has the name {reference}", code="NOT_FOUND", status=404, hint=hint)


FILTERS = ("status", "name", "user", "since", "search")


def newest(api: ClientApi, path: str, flags: dict[str, Any], **more: str) -> list[Any]:
    """Query of the filters from `with_filters`. The API refuses an unknown status."""
    values = {("q" if name == "search" else name): flags[name] for name in FILTERS if flags[name] is not None}
    if "since" in values:
        values["since"] = iso_of(values["since"])
    return pages(api, path, flags["limit"], {**values, **more})


def is_filtered(flags: dict[str, Any]) -> bool:
    """Whether any filter was given: an empty list then has another meaning."""
    return any(flags[name] is not None for name in FILTERS)
