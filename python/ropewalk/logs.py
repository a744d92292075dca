"""Groups a cluster's log lines as Dask shows them: one text for the scheduler, one for each worker. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from distributed.utils import Log, Logs

from ropewalk.views import LogLine


def group_logs(
    cluster: str,
    heads: Collection[str],
    lines: Iterable[LogLine],
    *,
    scheduler: bool,
    workers: bool | Collection[str],
) -> Logs:
    """`heads` are the scheduler's instances. Workers are selected by name. Ended workers are included."""
    texts: dict[str, list[str]] = {}
    for line in lines:
        # Messages of the agent are not output of Dask.
        if line["stream"] == "agent":
            continue
        is_head = line["instance"] in heads
        name = "Scheduler" if is_head else f"{cluster}-worker-{_digits(line['instance'])}"
        if scheduler if is_head else (workers if isinstance(workers, bool) else name in workers):
            texts.setdefault(name, []).append(line["text"])
    first = ["Scheduler"] if "Scheduler" in texts else []
    return Logs({name: Log("\n".join(texts[name])) for name in first + sorted(texts.keys() - {"Scheduler"})})


def _digits(instance: str) -> str:
    """As the agent names its worker: of EC2's ids all digits."""
    return instance[2:] if instance.startswith("i-") else instance[-8:]
