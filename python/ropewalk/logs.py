"""Log lines of a cluster, selected as on the command line, and grouped like Dask's or in one order of time."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from distributed.utils import Log, Logs

from ropewalk.views import ClusterView, Instance, LogLine

#: True or "all", False, "any" for one of them, or names, ids, states and addresses: a list, or a text with commas.
Workers = bool | str | Collection[str]
_STATES = ("starting", "ready", "stopping", "error")


def named_workers(workers: Workers, names: Mapping[str, str]) -> Workers:
    """`workers` with names in the place of Dask's addresses, by which other cluster classes choose. `names`: by address."""
    if isinstance(workers, bool) or workers in ("all", "any"):
        return workers
    return [names.get(word, word) for word in _wanted(workers)]


def is_wanted(
    cluster: str, heads: Collection[str], instances: Sequence[Instance], *, scheduler: bool, workers: Workers
) -> Callable[[str], bool]:
    """Returns a predicate for instances whose output is wanted. `heads` are the scheduler's instances. Ended
    instances are selected by their workers' names, and by "all"."""
    others = [one for one in instances if one["id"] not in heads]
    if isinstance(workers, bool) or workers == "all":
        return lambda id: scheduler if id in heads else bool(workers)
    if workers == "any":
        wanted = {one["id"] for one in others[:1]}
    else:
        wanted = _wanted(workers)
    named = {one["id"] for one in others if not wanted.isdisjoint(_names(one))}
    return lambda id: scheduler if id in heads else id in named or id in wanted or worker_name(cluster, id) in wanted


def check_named(
    cluster: str, heads: Collection[str], instances: Sequence[Instance], lines: Iterable[LogLine], workers: Workers
) -> None:
    """Raises ValueError when a text names no worker, neither a current one nor one in the lines."""
    if isinstance(workers, bool) or workers in ("all", "any"):
        return
    others = [one for one in instances if one["id"] not in heads]
    ended = {line["instance"] for line in lines} - set(heads)
    known = set[str]().union(*map(_names, others), ended, (worker_name(cluster, id) for id in ended))
    known |= {worker_name(cluster, one["id"]) for one in others}
    unknown = sorted(_wanted(workers) - known)
    if unknown:
        names = ", ".join(sorted(name for name in known if name.startswith(f"{cluster}-worker-"))[:10])
        raise ValueError(f"workers: there is no {', '.join(unknown)}; " + (f"there are {names}" if names else "there is no worker yet"))


def check_words(cluster: str, heads: Collection[str], instances: Sequence[Instance], words: str) -> None:
    """As `check_named`, before the first line: ids and names of workers that may have left are not questioned."""
    if words in ("all", "any"):
        return
    others = [one for one in instances if one["id"] not in heads]
    known = set[str](_STATES).union(*map(_names, others), (worker_name(cluster, one["id"]) for one in others))
    left = (f"{cluster}-worker-", "i_", "i-")
    unknown = sorted(word for word in _wanted(words) - known if not word.startswith(left))
    if unknown:
        names = ", ".join(worker_name(cluster, one["id"]) for one in others[:10])
        raise ValueError(f"there is no {', '.join(unknown)}; " + (f"there are {names}" if names else "there is no worker yet"))


def worker_names(view: ClusterView) -> set[str]:
    """Names of the workers with an existing or requested instance."""
    gone = ("stopping", "stopped", "error")
    return {worker_name(view["name"], one["id"]) for one in view["instances"] if one["role"] != "head" and one["state"] not in gone}


def chosen_lines(
    lines: Iterable[LogLine], is_of_wanted: Callable[[str], bool], pattern: re.Pattern[str] | None
) -> list[LogLine]:
    """In order of time across instances; lines of one instance keep their order. Excludes the agent's messages,
    which are not output of Dask."""
    chosen = [
        line
        for line in lines
        if line["stream"] != "agent"
        and is_of_wanted(line["instance"])
        and (pattern is None or pattern.search(line["text"]) is not None)
    ]
    return sorted(chosen, key=lambda line: line["at"])


def grouped(cluster: str, heads: Collection[str], lines: Iterable[LogLine]) -> Logs:
    """One text for the scheduler, then one for each worker."""
    texts: dict[str, list[str]] = {}
    for line in lines:
        texts.setdefault(_source(cluster, heads, line), []).append(line["text"])
    first = ["Scheduler"] if "Scheduler" in texts else []
    return Logs({name: Log("\n".join(texts[name])) for name in first + sorted(texts.keys() - {"Scheduler"})})


def merged(cluster: str, heads: Collection[str], lines: Iterable[LogLine]) -> Log:
    """One text with the time and the source of each line."""
    return Log("\n".join(f"{line['at']} {_source(cluster, heads, line)} {line['text']}" for line in lines))


def read_filter(text: str | re.Pattern[str] | None) -> re.Pattern[str] | None:
    """A text that lines contain, `%regex%`, or a compiled pattern. Raises ValueError naming the argument."""
    if text is None or isinstance(text, re.Pattern):
        return text
    regex = text[1:-1] if len(text) > 2 and text[0] == text[-1] == "%" else None
    try:
        return re.compile(re.escape(text) if regex is None else regex)
    except re.error as error:
        raise ValueError(f"filter is {text!r}, which is no regular expression: {error}") from None


def worker_name(cluster: str, instance: str) -> str:
    """The agent's name of its worker, with all digits of EC2's ids."""
    return f"{cluster}-worker-{instance[2:] if instance.startswith('i-') else instance[-8:]}"


def _wanted(workers: str | Collection[str]) -> set[str]:
    return {text.strip() for text in (workers.split(",") if isinstance(workers, str) else workers)}


def _source(cluster: str, heads: Collection[str], line: LogLine) -> str:
    return "Scheduler" if line["instance"] in heads else worker_name(cluster, line["instance"])


def _names(instance: Instance) -> set[str]:
    process = instance["process"]
    names = (instance["id"], instance["state"], instance.get("address"), None if process is None else process["name"])
    return {name for name in names if name is not None}
