"""Counts a Dask scheduler's work: tasks and seconds by function name, types of exceptions, memory. Never keys,
arguments, messages or code. ROPEWALK_USAGE names the kinds that the cluster's creator allows."""

import os
import re

#: Maximum names of each kind; further ones are counted under OTHER.
MAX_NAMES = 500
#: Names sent, those with the most seconds or errors first: each report is kept in the history of the cluster's
#: workflow.
MAX_SENT = 10
MAX_NAME_CHARS = 80
OTHER = "other"


class Usage:
    def __init__(self):
        self.kinds = frozenset(os.environ.get("ROPEWALK_USAGE", "").split(","))
        self.groups = {}
        self.exceptions = {}

    def transition(self, scheduler, key, start, finish, details):
        """Runs for every transition, so it only sums."""
        if start != "processing" or finish not in ("memory", "erred"):
            return
        ts = scheduler.tasks.get(key)
        if "groups" in self.kinds and ts is not None:
            group = entry(self.groups, ts.prefix.name, {"tasks": 0, "erred": 0, "computeSeconds": 0.0, "transferSeconds": 0.0})
            group["tasks" if finish == "memory" else "erred"] += 1
            for span in details.get("startstops") or ():
                name = {"compute": "computeSeconds", "transfer": "transferSeconds"}.get(span["action"])
                if name is not None:
                    group[name] += max(0.0, span["stop"] - span["start"])
        if "exceptions" in self.kinds and finish == "erred":
            # The message may contain data; the type is a class name.
            kind = re.match(r"[A-Za-z_]\w*(?:\.\w+)*", details.get("exception_text") or "")
            entry(self.exceptions, kind.group() if kind else "unknown", {"count": 0})["count"] += 1

    def sums(self):
        """Changes with the work only: an idle cluster reports nothing."""
        sent = {}
        if "groups" in self.kinds:
            first = sorted(self.groups.items(), key=lambda item: (-item[1]["computeSeconds"], item[0]))[:MAX_SENT]
            sent["groups"] = [
                {"name": name, **{key: round(value, 3) for key, value in group.items()}} for name, group in first
            ]
        if "exceptions" in self.kinds:
            first = sorted(self.exceptions.items(), key=lambda item: (-item[1]["count"], item[0]))[:MAX_SENT]
            sent["exceptions"] = [{"type": name, **counts} for name, counts in first]
        return sent

    def memory(self, scheduler):
        if "memory" not in self.kinds:
            return {}
        workers = scheduler.workers.values()
        used = sum(int(ws.metrics.get("memory", 0)) for ws in workers)
        return {"memory": {"usedBytes": used, "limitBytes": sum(int(ws.memory_limit or 0) for ws in workers)}}


def entry(known, name, zero):
    name = str(name)[:MAX_NAME_CHARS]
    if name not in known and len(known) >= MAX_NAMES:
        name = OTHER
    return known.setdefault(name, zero)
