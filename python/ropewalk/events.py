"""Events of a cluster, by their numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from ropewalk.batch.follow import follow_lines
from ropewalk.batch.paths import connect
from ropewalk.clusters import number_of
from ropewalk.times import Since, read_since
from ropewalk.views import Event


def page_query(after: int | None, limit: int | None) -> dict[str, str]:
    return {name: str(value) for name, value in (("after", after), ("limit", limit)) if value is not None}


def cluster_events(
    cluster: int | str,
    *,
    after: int | None = None,
    limit: int | None = None,
    since: Since | None = None,
    follow: bool = False,
    workspace: str | None = None,
    api_url: str | None = None,
    token: str | None = None,
) -> Iterator[Event]:
    """Events of a cluster, oldest first: of an open or ended one by its number, or of an open one by its name. `limit` is the size of
    a page, and the next page is `after` the `seq` of its last event. `since` is a time, or an age like "10m". `follow` continues until
    the cluster has ended, through outages of the API, or until `limit` events.

    Examples
    --------
    >>> for event in ropewalk.cluster_events("blue", follow=True):
    ...     print(event["at"], event["code"], event["text"])
    """
    query = page_query(after, limit)
    at = read_since(since)
    if at is not None:
        query["since"] = at
    api = connect(api_url, token, workspace)
    path = f"/v1/clusters/{number_of(api, cluster)}/events"
    # Each answer begins with the same events.
    return cast("Iterator[Event]", follow_lines(api, path, query, key_of=lambda _: "", follow=follow, resumes=False))
