"""The lifecycle of a cluster object: create or find the cluster, connect, keep it alive, end it. When the start fails, a new
cluster is stopped; if that fails too, the server ends the cluster by its timeouts."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import time
import weakref
from collections.abc import Callable, Generator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, cast

from distributed import Security, rpc
from distributed.core import Status
from distributed.objects import SchedulerInfo

from ropewalk.cluster_waits import dask_of
from ropewalk.credentials import ForwardedCredentials
from ropewalk.errors import ClusterEndedError, RopewalkError
from ropewalk.following import Follower, Scheduler, ask_before_reconnect, clients_of, end_client
from ropewalk.keepalives import KeptCluster
from ropewalk.log_records import logger
from ropewalk.package_sync.options import PackageSyncOptions
from ropewalk.private_envs import send_envs
from ropewalk.remote import Remote
from ropewalk.security import make_security
from ropewalk.versions import version_mismatch
from ropewalk.waiting import WorkerAmount

if TYPE_CHECKING:
    from typing_extensions import Self

#: Creates the field `software` of the request; blocks. Gets a function for lines to the user, and a deadline
#: (time.monotonic).
MakeSoftware = Callable[[Callable[[str], None], float], dict[str, Any]]


class ClusterLifecycle(KeptCluster):
    _open: ClassVar[weakref.WeakSet[ClusterLifecycle]] = weakref.WeakSet()

    def __init__(
        self,
        remote: Remote,
        body: dict[str, Any],
        *,
        amount: WorkerAmount,
        timeout_s: float,
        keepalive_s: float | None,
        shutdown_on_close: bool | None,
        asynchronous: bool,
        quiet: bool,
        loop: Any,
        software: MakeSoftware | None = None,
        synced: PackageSyncOptions | None = None,
        forwards_credentials: bool = False,
        credentials_duration_s: int | None = None,
    ) -> None:
        self._remote = remote
        self._body = body
        self._software, self._synced = software, synced
        self._amount = amount
        self._timeout_s = timeout_s
        self._keepalive_s = keepalive_s
        self.shutdown_on_close = shutdown_on_close
        self.security: Security | None = None
        # True until the server has reported a new cluster: an existing cluster is not stopped.
        self._existed = True
        self._requested, self._warnings, self._warns_at_once = None, [], asynchronous
        self._keeping = None
        self._ending: asyncio.Task[None] | None = None
        self._follower = Follower(remote, on_end=self._ended_by_server)
        self._following: asyncio.Task[None] | None = None
        self._is_adaptive = False
        self._forwards_credentials = forwards_credentials
        self._aws = ForwardedCredentials(credentials_duration_s, self._send_aws_variables, self._log)
        #: Why the cluster ended while this object was in use.
        self.ended: ClusterEndedError | None = None
        super().__init__(asynchronous=asynchronous, loop=loop, quiet=quiet, name=body.get("name"))
        self._open.add(self)
        if self.called_from_running_loop:
            return
        self._loop_runner.start()
        try:
            self.sync(self._start)
        except BaseException:
            # On Ctrl-C the event loop still runs: a new cluster is stopped before the loop.
            with contextlib.suppress(Exception):
                self.sync(self._give_up, callback_timeout=15)
            self._loop_runner.stop()
            raise
        self._warn_caller()

    @property
    def status(self) -> Status:
        """A Dask client reads this when the scheduler's connection is lost, before it reconnects, so this is the
        moment to change its behaviour."""
        if self._status is Status.running:
            ask_before_reconnect(clients_of(self), self._why_lost)
        return self._status

    @status.setter
    def status(self, status: Status) -> None:
        self._status = status

    def __await__(self) -> Generator[Any, None, Self]:
        yield from self._start().__await__()
        return self

    async def _start(self) -> None:
        while self.status == Status.starting:
            await asyncio.sleep(0.01)
        if self.status == Status.running:
            return
        if self.ended is not None:
            raise self.ended
        if self.status in (Status.closing, Status.closed):
            raise RopewalkError("This cluster object is closed; make a new one.", code="CLOSED")
        self.status = Status.starting
        try:
            await self._begin(time.monotonic() + self._timeout_s)
        except BaseException:
            await self._give_up()
            raise
        finally:
            self._end_widget()

    async def _begin(self, deadline: float) -> None:
        if self._forwards_credentials:
            self._aws.read_ahead()
        await self._remote.check_workspace(deadline)
        created = await self._remote.find(self._body.get("name"), deadline)
        if created is None:
            if self._software is not None:
                self._body["software"] = await asyncio.to_thread(self._software, self._log, deadline)
            created = await self._remote.find_or_create(self._body, deadline)
        self.name, self._existed = created["name"], created["existing"]
        if self.shutdown_on_close is None:
            self.shutdown_on_close = not self._existed
        self._report_found(created, self._existed)
        workers = self._body.get("workers")
        if not self._existed and isinstance(workers, int):
            self._requested = (workers, time.monotonic())
        view = await self._wait_for_scheduler(deadline)
        wanted = dask_of(view)["workersWanted"]
        if self._existed and isinstance(workers, int) and workers != wanted:
            self._log(f"It has {wanted} workers, not {workers}: use scale to change that.")
        self._is_adaptive = dask_of(view)["adaptive"] is not None
        await self._connect(deadline)
        if self._existed:
            await self._report_differences(self._synced)
        if self._keepalive_s is not None:
            await self._set_keepalive(self._keepalive_s, deadline)
        await self._forward_credentials(view["user"], deadline)
        await self._wait_for_workers(self._amount, deadline - time.monotonic())
        await self._show_end(deadline)

    async def _forward_credentials(self, owner: str, deadline: float) -> None:
        if not self._forwards_credentials:
            return
        # A user who connects to a colleague's cluster does not lend their credentials to its computations.
        if self._existed and owner != await self._remote.user(deadline):
            self._log(f"The cluster keeps the AWS credentials of {owner}: send_credentials() sends yours.")
            return
        await self._aws.start()

    async def _send_aws_variables(self, variables: Mapping[str, str | None]) -> None:
        if not self.scheduler_comm:
            raise RopewalkError("The cluster has not started yet.", code="NOT_YET", hint="Await the cluster first.")
        await send_envs(self.scheduler_comm, variables, "ropewalk-aws-credentials")

    async def _connect(self, deadline: float) -> None:
        credentials = await self._remote.credentials(deadline)
        self.security = make_security(credentials)
        address = credentials["schedulerAddress"]
        self.scheduler_comm = rpc(address, connection_args=self.security.get_connection_args("client"))
        try:
            name = self.name
            await super()._start()
            # Dask has overwritten the name with the one that an earlier client set on the scheduler.
            self.name = name
            mismatch = version_mismatch(await self.scheduler_comm.versions())
        except (OSError, asyncio.TimeoutError) as error:
            raise RopewalkError(
                f"The scheduler of cluster {self.number} at {address} cannot be reached from this machine: {error}",
                code="SCHEDULER_UNREACHABLE",
                hint="Check that the cluster has not ended, and that no firewall blocks the address.",
            ) from error
        if mismatch is not None:
            self._warn(mismatch)
        self._following = asyncio.ensure_future(self._follower.follow(self._watching(), self._scheduler(), self._rejoin))

    def _watching(self) -> asyncio.Task[Any]:
        return cast("asyncio.Task[Any]", self._watch_worker_status_task)

    def _scheduler(self) -> Scheduler:
        args = {} if self.security is None else self.security.get_connection_args("client")
        return Scheduler(self.scheduler_address, args)

    async def _rejoin(self) -> asyncio.Task[Any]:
        """Follows the scheduler's workers again after the connection was lost."""
        comm = await cast(Any, self.scheduler_comm).live_comm()
        await comm.write({"op": "subscribe_worker_status"})
        self.scheduler_info = SchedulerInfo(await comm.read())
        self._watch_worker_status_comm = comm
        self._watch_worker_status_task = asyncio.ensure_future(self._watch_worker_status(comm))
        return self._watching()

    async def _why_lost(self) -> ClusterEndedError | None:
        if self.ended is not None or self.status != Status.running:
            return self.ended
        return await self._follower.why_lost(self._scheduler())

    async def _ended_by_server(self, error: ClusterEndedError) -> None:
        self.ended = error
        self._log(str(error)[:1].upper() + str(error)[1:])
        self.status = Status.closing
        for client in clients_of(self):
            if client.status == "running":
                await end_client(client, error)
        self._following = None
        await self._end(stop=False)

    async def _shutdown(self) -> None:
        before, self.status = self.status, self._status_while_ending()
        try:
            await self._remote.stop()
        except BaseException:
            if self._ending is None:
                self.status = before
            raise
        self.shutdown_on_close = False
        await self._close()

    async def _give_up(self) -> None:
        await self._end(not self._existed or bool(self.shutdown_on_close))

    async def _close(self) -> None:
        await self._end(bool(self.shutdown_on_close))

    async def _end(self, stop: bool) -> None:
        """Runs once and completely, even when its caller is cancelled."""
        if self._ending is None:
            self._ending = asyncio.ensure_future(self._end_now(stop))
        await asyncio.shield(self._ending)

    async def _end_now(self, stop: bool) -> None:
        self._aws.stop()
        for task in (self._keeping, self._following):
            if task is not None:
                task.cancel()
        if stop and self.number is not None:
            self.status = self._status_while_ending()
            try:
                await self._remote.stop()
            except RopewalkError as error:
                if error.code not in ("CONFLICT", "NOT_FOUND"):
                    logger.warning("Cluster %s was not stopped; its idle timeout ends it: %s", self.number, error)
        await super()._close()
        self._open.discard(self)

    def _status_while_ending(self) -> Status:
        """The scheduler can end before the API has answered: with this status clients do not reconnect."""
        return Status.closing if self.status == Status.running else self.status

    def _stop_at_exit(self) -> None:
        """At exit the event loop may have ended, and the threads of `asyncio.to_thread` have."""
        if self.status == Status.closed:
            return
        if self.shutdown_on_close and self.number is not None:
            with contextlib.suppress(Exception):
                self._remote.stop_now(timeout_s=5)
        self.status = Status.closed


@atexit.register
def _stop_open_clusters() -> None:
    for cluster in list(ClusterLifecycle._open):
        cluster._stop_at_exit()
