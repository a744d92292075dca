"""A cluster's log lines as Dask shows them: one text for the scheduler, one for each worker. Pure."""

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
    """`heads` are the scheduler's instances. Workers are chosen by name. Those that have ended are there too."""
    texts: dict[str, list[str]] = {}
    for line in lines:
        # What the agent says about itself is no output of Dask.
        if line["stream"] == "agent":
            continue
        is_head = line["instance"] in heads
        name = "Scheduler" if is_head else f"{cluster}-worker-{_digits(line['instance'])}"
        if scheduler if is_head else (workers if isinstance(workers, bool) else name in workers):
            texts.setdefault(name, []).append(line["text"])
    first = ["Scheduler"] if "Scheduler" in texts else []
    return Logs({name: Log("\n".join(texts[name])) for name in first + sorted(texts.keys() - {"Scheduler"})})


def _digits(instance: str) -> str:
    """As the agent names its worker (agent/dask/worker-name.ts): of EC2's all digits."""
    return instance[2:] if instance.startswith("i-") else instance[-8:]
