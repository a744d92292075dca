"""A program's use of a cluster: read its logs, open its dashboard, end it; and its display in a notebook."""

from __future__ import annotations

import asyncio
import html
import re
import time
import warnings
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar, cast

from distributed.core import Status
from distributed.utils import Log, Logs

from ropewalk.amounts import check_scale, refuse_cores, refuse_parts
from ropewalk.cluster_waits import DEFAULT_TIMEOUT_S, dask_of
from ropewalk.credentials import is_own_choice
from ropewalk.durations import Duration, seconds_of
from ropewalk.errors import RopewalkError
from ropewalk.events import page_query
from ropewalk.logs import Workers, check_named, chosen_lines, grouped, is_wanted, named_workers, read_filter, worker_names
from ropewalk.logs import merged as merge_lines
from ropewalk.machines import refuse_unknown
from ropewalk.other_arguments import NO_MOUNT, NO_SPARK
from ropewalk.private_envs import check_envs, send_envs
from ropewalk.scaling import ScaledCluster
from ropewalk.times import Since, read_since
from ropewalk.waiting import WorkerAmount, check_amount


class ClusterUse(ScaledCluster):
    _show_widget: bool

    def wait_for_workers(self, n_workers: WorkerAmount = True, timeout: Duration | None = None) -> Any:
        """Waits like the argument `wait_for_workers`. Ignores workers that failed to start."""
        check_amount(n_workers)
        seconds = DEFAULT_TIMEOUT_S if timeout is None else seconds_of(timeout, "timeout")
        return self.sync(self._wait_for_workers, n_workers, seconds)

    # Coiled's order; distributed has `cluster` first.
    def get_logs(  # type: ignore[override]
        self,
        scheduler: bool = True,
        workers: Workers = True,
        *,
        filter: str | re.Pattern[str] | None = None,
        since: Since | None = None,
        merged: bool = False,
        cluster: bool = True,
    ) -> Any:
        """Output of the scheduler and of each worker by name, including ended workers, of an ended cluster too.

        `workers` is True or "all", False, "any" for one of them, or names, ids, states and addresses. `filter` is a text that lines
        contain, or "%regex%"; `since` an age like "10m", or a time. With `merged` the result is one text in order of time, each
        line with its time and source; otherwise `cluster` adds the messages of this object.
        """
        chosen = {"filter": read_filter(filter), "since": read_since(since)}
        return self.sync(self._get_logs, cluster=cluster, scheduler=scheduler, workers=workers, merged=merged, **chosen)

    def details(self) -> Any:
        """The cluster as the API shows it, in a dict: `status`, `reason`, `instances` with the state of each and of its Dask process,
        `failures`, `events`, `cost`. Coiled's has other keys. Also for ended clusters, as long as this object exists."""
        if self.status == Status.closed and not self.asynchronous:
            return self._remote.view_now()
        return self.sync(self._remote.view)

    def mount_bucket(self, bucket: str | Sequence[str]) -> NoReturn:
        """Coiled's; raises NotImplementedError with the alternatives."""
        raise NotImplementedError(f"mount_bucket({bucket!r}): {NO_MOUNT}.")

    def get_spark(self, *_: Any, **__: Any) -> NoReturn:
        """Coiled's; raises NotImplementedError with the alternatives."""
        raise NotImplementedError(f"get_spark(): {NO_SPARK}.")

    def get_events(self, after: int | None = None, limit: int | None = None) -> Any:
        """The cluster's events, oldest first, each with its number `seq`, its time, code and text: all of them, or a page of
        `limit` events. The next page is `after` the number of the last one. Also for ended clusters, as long as this object exists.
        """
        query = page_query(after, limit)
        if self.status == Status.closed and not self.asynchronous:
            return self._remote.events_now(query)
        return self.sync(self._remote.events, query)

    def set_keepalive(self, keepalive: Duration) -> Any:
        """The server ends the cluster after this long without a client. This object reports a client while it is
        open."""
        return self._act(self._set_keepalive, seconds_of(keepalive, "keepalive"))

    def send_private_envs(self, env: Mapping[str, str], raise_on_error: bool | None = None) -> Any:
        """Sets environment variables on the scheduler and on current and future workers, without sending them to Ropewalk. A
        failure is always raised, as with Coiled's `raise_on_error=True`."""
        return self._act(self._send_private_envs, check_envs(env))

    def unset_env_vars(self, unset: Iterable[str]) -> Any:
        """Removes environment variables on the scheduler and on current and future workers."""
        return self._act(self._send_private_envs, dict.fromkeys(check_envs(dict.fromkeys(unset, ""))))

    def send_credentials(self, automatic_refresh: bool = True) -> Any:
        """Sends the AWS credentials of this machine to the cluster now, and keeps them fresh unless `automatic_refresh` is
        False. With `credentials="local"`, the default, that happens automatically."""
        return self._act(self._aws.send_now, automatic_refresh)

    def why(self) -> Any:
        """Why the cluster runs or waits, is not larger, has its instance types, or has stopped: a dict with
        `sentences`, each with its `text` and supporting `facts`. Also for ended clusters, as long as this object
        exists."""
        if self.status == Status.closed and not self.asynchronous:
            return self._remote.why_now()
        return self.sync(self._remote.why)

    def shutdown(self) -> Any:
        """Ends the cluster, regardless of `shutdown_on_close`."""
        if self.status == Status.closed and not self.asynchronous:
            return self._remote.stop_now(timeout_s=20)
        done = self.sync(self._shutdown)
        if not self.asynchronous:
            self._loop_runner.stop()
        return done

    def close(self, timeout: float | None = None, *, force_shutdown: bool = False, reason: str | None = None) -> Any:
        """Ends this object's use of the cluster, and the cluster if `shutdown_on_close` or `force_shutdown`. `reason` is for the
        messages of this object."""
        if force_shutdown:
            self.shutdown_on_close = True
        if reason is not None and self.status != Status.closed:
            self._log(f"Closing: {reason}")
        done = super().close(timeout)
        if not self.asynchronous:
            self._loop_runner.stop()
        return done

    async def _get_logs(
        self,
        cluster: bool = True,
        scheduler: bool = True,
        workers: Workers = True,
        *,
        filter: re.Pattern[str] | None = None,
        since: str | None = None,
        merged: bool = False,
    ) -> Logs | Log:
        lines = await self._remote.logs(since)
        view = await self._remote.view()
        name, heads = view["name"], self._remote.heads
        workers = named_workers(workers, {at: str(one["name"]) for at, one in self.scheduler_info["workers"].items()})
        check_named(name, heads, view["instances"], lines, workers)
        chosen = chosen_lines(lines, is_wanted(name, heads, view["instances"], scheduler=scheduler, workers=workers), filter)
        if merged:
            return merge_lines(name, heads, chosen)
        own = {"Cluster": Log("\n".join(text for _, text in self._cluster_manager_logs))} if cluster else {}
        return Logs({**own, **grouped(name, heads, chosen)})

    async def _send_private_envs(self, env: dict[str, str]) -> None:
        if not self.scheduler_comm:
            raise RopewalkError("The cluster has not started yet.", code="NOT_YET", hint="Await the cluster first.")
        if is_own_choice(env):
            self._aws.stop()
        await send_envs(self.scheduler_comm, env, f"ropewalk-private-envs-{time.time_ns()}")

    @property
    def requested(self) -> set[str]:
        """Names of the workers with an existing or requested instance. Sends a request."""
        return worker_names(self._remote.view_now())

    @property
    def plan(self) -> set[str]:
        """Names of the requested workers: the `requested` ones, and `NAME-worker-to-launch-1`... for missing ones.
        Sends a request."""
        view = self._remote.view_now()
        names = sorted(worker_names(view))
        wanted = dask_of(view)["workersWanted"]
        missing = {f"{view['name']}-worker-to-launch-{number + 1}" for number in range(wanted - len(names))}
        return {*names[:wanted], *missing}

    def __repr__(self) -> str:
        if self.ended is not None:
            return f"<Cluster {self.name}: {self.ended}>"
        # The scheduler's last report is outdated.
        return f"<Cluster {self.name}: closed>" if self.status == Status.closed else super().__repr__()

    def _repr_html_(self, cluster_status: str | None = None) -> str:
        shown: str = super()._repr_html_(cluster_status)
        return shown if self.ended is None else f"<p>{html.escape(str(self.ended).capitalize())}</p>{shown}"

    def _ipython_display_(self, **kwargs: Any) -> None:
        if self._show_widget:
            super()._ipython_display_(**kwargs)
        else:
            print(repr(self))

    def _scaling_status(self) -> str:
        if self.ended is not None:
            return f"<p>{html.escape(str(self.ended))}</p>"
        mode = "Adaptive, on the server" if self._is_adaptive else "Manual"
        workers = len(self.scheduler_info["workers"])
        wanted = workers if self._requested is None else self._requested[0]
        count = str(workers) if wanted == workers else f"{workers} / {wanted}"
        cell = '<tr><td style="text-align: left;">'
        return f"<table>{cell}Scaling mode: {mode}</td></tr>{cell}Workers: {count}</td></tr></table>"
