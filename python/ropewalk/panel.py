"""The live panel of a starting cluster: overview, configuration, workers by state as bars, newest events. In a
notebook it is HTML that updates itself, on a terminal rich draws it, if installed."""

from __future__ import annotations

import contextlib
import html
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, Literal, Protocol, runtime_checkable

from ropewalk.printable import clean
from ropewalk.views import ClusterView, Instance

WorkerState = Literal["Provisioning", "Booting", "Environment", "Starting", "Ready", "Stopping", "Error"]
#: In the order of a worker's life cycle, with the color of the bar.
STATES: tuple[tuple[WorkerState, str], ...] = (
    ("Provisioning", "grey50"),
    ("Booting", "goldenrod"),
    ("Environment", "goldenrod"),
    ("Starting", "goldenrod"),
    ("Ready", "green"),
    ("Stopping", "teal"),
    ("Error", "red"),
)
_RICH_COLORS = {"grey50": "bright_black", "goldenrod": "yellow", "teal": "cyan"}
_MAX_EVENTS = 4
_BAR_WIDTH = 40

Facts = Sequence[tuple[str, str]]


@runtime_checkable
class ClusterWidget(Protocol):
    """The interface of `custom_widget`: it gets the cluster's view after each read while the object waits."""

    def update(self, view: ClusterView) -> None: ...

    def stop(self) -> None:
        """Called after the last update, whether the cluster has started or failed."""


def choose_widget(show: bool, custom: ClusterWidget | bool | None) -> ClusterWidget | None:
    """None for lines of text. Raises ValueError when the wanted widget is not available."""
    if custom is True:
        if not _has_rich():
            raise ValueError("custom_widget=True needs the package rich: pip install rich, or pip install 'ropewalk[widget]'")
        return TerminalPanel()
    if custom is not None and custom is not False:
        if isinstance(custom, ClusterWidget):
            return custom
        raise ValueError(f"custom_widget is {custom!r}: give True, or an object with the methods update(view) and stop()")
    shell = _ipython() if show else None
    if shell is None:
        return None
    if hasattr(shell, "kernel"):
        return NotebookPanel()
    return TerminalPanel() if _has_rich() and sys.stderr.isatty() else None


class TerminalPanel:
    """Drawn on stderr by rich; without a terminal, rich prints only the last state."""

    def __init__(self, console: Any = None) -> None:
        from rich.console import Console
        from rich.live import Live

        self._live = Live(console=console or Console(stderr=True), auto_refresh=False)
        self._is_live = False

    def update(self, view: ClusterView) -> None:
        if not self._is_live:
            self._live.start()
            self._is_live = True
        self._live.update(rich_panel(view), refresh=True)

    def stop(self) -> None:
        if self._is_live:
            self._live.stop()
            self._is_live = False


class NotebookPanel:
    """One output of the notebook's cell, replaced with each update. `display` is IPython's."""

    def __init__(self, display: Callable[..., Any] | None = None) -> None:
        self._display = display
        self._handle: Any = None

    def update(self, view: ClusterView) -> None:
        bundle = {"text/html": html_panel(view), "text/plain": text_panel(view)}
        if self._handle is not None:
            self._handle.update(bundle, raw=True)
            return
        if self._display is None:
            from IPython.display import display

            self._display = display
        self._handle = self._display(bundle, raw=True, display_id=True)

    def stop(self) -> None:
        """Keeps the output in the notebook."""


def count_workers(view: ClusterView) -> dict[WorkerState, int]:
    """Wanted workers without an instance count as provisioning; those that were given up as errors."""
    counts = Counter(_state_of(one) for one in view["instances"] if one["role"] == "worker")
    dask = view["dask"]
    wanted, errored = (0, 0) if dask is None else (dask["workersWanted"], dask["workersErrored"])
    counts["Error"] = max(counts["Error"], errored)
    coming = sum(counts[state] for state, _ in STATES[:5])
    counts["Provisioning"] += max(0, wanted - coming - errored)
    return {state: counts[state] for state, _ in STATES}


def overview(view: ClusterView) -> Facts:
    head = next((one for one in view["instances"] if one["role"] == "head"), None)
    cost, dask = view.get("cost"), view["dask"]
    return (
        ("User", view["user"]),
        ("Scheduler", "no instance" if head is None else _scheduler_text(_state_of(head))),
        ("Address", (None if dask is None else dask["schedulerAddress"]) or "-"),
        ("Cost", "-" if not cost else f"about ${cost['dollars']:.2f}, ${cost['dollarsPerHour']:.2f} an hour"),
    )


def configuration(view: ClusterView) -> Facts:
    dask, region = view["dask"], view.get("region")
    adaptive = None if dask is None else dask["adaptive"]
    wanted = "-" if dask is None else str(dask["workersWanted"])
    return (
        ("Provider", ", ".join(part for part in (view.get("provider"), region) if part) or "-"),
        ("Scheduler", _types(one for one in view["instances"] if one["role"] == "head")),
        ("Workers", _types(one for one in view["instances"] if one["role"] == "worker")),
        ("Requested", wanted if adaptive is None else f"{wanted}, adaptive {adaptive['minimum']} to {adaptive['maximum']}"),
    )


def title(view: ClusterView) -> str:
    return f"Cluster {view['number']} ({view['name']}): {view['status']}"


def newest_events(view: ClusterView) -> list[str]:
    return [clean(f"{_clock(event['at'])} {event['code']}: {event['text']}") for event in view.get("events", [])[-_MAX_EVENTS:]]


def text_panel(view: ClusterView) -> str:
    """For output that shows neither HTML nor colors."""
    counts = ", ".join(f"{count} {state.lower()}" for state, count in count_workers(view).items() if count)
    return f"{title(view)}, workers: {counts or 'none'}"


def html_panel(view: ClusterView) -> str:
    counts = count_workers(view)
    total = max(1, sum(counts.values()))
    cell = 'style="text-align: left; padding: 1px 8px;"'

    def table(name: str, facts: Facts) -> str:
        rows = "".join(f"<tr><td {cell}>{html.escape(key)}</td><td {cell}>{html.escape(value)}</td></tr>" for key, value in facts)
        return f'<table style="display: inline-table; margin-right: 24px;"><caption>{name}</caption>{rows}</table>'

    bars = "".join(
        f'<tr><td {cell}>{state}</td><td {cell}><div style="width: {100 * counts[state] / total:.1f}%; min-width: '
        f'{2 if counts[state] else 0}px; height: 10px; background: {color};"></div></td><td {cell}>{counts[state]}</td></tr>'
        for state, color in STATES
    )
    workers = (
        f'<table style="width: 100%; max-width: 640px;"><caption>Workers</caption><colgroup><col style="width: 110px;"><col>'
        f'<col style="width: 60px;"></colgroup>{bars}</table>'
    )
    events = "".join(f"<li>{html.escape(event)}</li>" for event in newest_events(view))
    tables = table("Overview", overview(view)) + table("Configuration", configuration(view))
    return f"<div><b>{html.escape(title(view))}</b><div>{tables}</div>{workers}<ul>{events}</ul></div>"


def rich_panel(view: ClusterView) -> Any:
    from rich.columns import Columns
    from rich.console import Group
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    def grid(name: str, facts: Facts) -> Table:
        table = Table(title=name, title_justify="left", show_header=False, box=None, padding=(0, 1))
        for key, value in facts:
            table.add_row(Text(key, style="dim"), Text(value))
        return table

    counts = count_workers(view)
    total = max(1, sum(counts.values()))
    bars = Table(title="Workers", title_justify="left", show_header=False, box=None, padding=(0, 1))
    for state, color in STATES:
        # Shows even one of a thousand.
        filled = 0 if counts[state] == 0 else max(1, round(counts[state] / total * _BAR_WIDTH))
        bar = Text("━" * filled + " " * (_BAR_WIDTH - filled), style=_RICH_COLORS.get(color, color))
        bars.add_row(state, bar, str(counts[state]))
    tables = Columns([grid("Overview", overview(view)), grid("Configuration", configuration(view))])
    events = [Text(event, style="dim", overflow="ellipsis", no_wrap=True) for event in newest_events(view)]
    return Panel(Group(tables, bars, *events), title=Text(title(view)), title_align="left")


def _state_of(instance: Instance) -> WorkerState:
    process = instance["process"]
    if instance["state"] == "stopping":
        return "Stopping"
    if instance["state"] == "error" or (process is not None and process["state"] == "error"):
        return "Error"
    if instance["state"] == "starting":
        return "Booting" if any(stage["name"] == "launched" for stage in instance.get("stages", [])) else "Provisioning"
    if process is None or process["state"] == "pending":
        return "Environment"
    if process["state"] == "starting":
        return "Starting"
    return "Ready" if process["state"] == "started" else "Stopping"


def _scheduler_text(state: WorkerState) -> str:
    return {"Ready": "running", "Environment": "builds its environment"}.get(state, state.lower())


def _types(instances: Iterable[Instance]) -> str:
    """`2 x m6i.xlarge spot, 1 x m5.xlarge`."""
    kinds = Counter(f"{one.get('type', '-')}{' spot' if one.get('market') == 'spot' else ''}" for one in instances)
    return ", ".join(f"{count} x {kind}" for kind, count in kinds.items()) or "-"


def _clock(at: str) -> str:
    return f"{datetime.fromisoformat(at.replace('Z', '+00:00')).astimezone():%H:%M:%S}"


def _ipython() -> Any:
    """The running IPython, if there is one; it is not imported for this."""
    module = sys.modules.get("IPython")
    return None if module is None else module.get_ipython()


def _has_rich() -> bool:
    with contextlib.suppress(ImportError):
        import rich.live  # noqa: F401

        return True
    return False
