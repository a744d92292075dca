"""The live panel: its contents for a view, its place, and when it is absent."""

from __future__ import annotations

import io
from types import SimpleNamespace
from typing import Any, cast

import pytest
from rich.console import Console
from stand_in import StandIn
from support import Start

from ropewalk import panel
from ropewalk.panel import NotebookPanel, TerminalPanel, choose_widget, count_workers, html_panel
from ropewalk.views import ClusterView


def an_instance(role: str, state: str = "ready", process: str | None = "started", **more: Any) -> dict[str, Any]:
    running = None if process is None else {"name": "one", "state": process, "stage": "dask"}
    return {"id": "i_one", "role": role, "state": state, "process": running, "type": "m6i.xlarge", "market": "spot", **more}


def a_view(**change: Any) -> ClusterView:
    view = {
        **{"number": 7, "name": "<b>blue", "user": "ada", "job": None, "status": "scaling", "reason": None, "failures": []},
        **{"provider": "aws", "region": "us-west-2", "cost": {"dollars": 0.5, "dollarsPerHour": 1.25}},
        "instances": [
            an_instance("head", market="on-demand"),
            an_instance("worker"),
            an_instance("worker"),
            an_instance("worker", process="pending"),
            an_instance("worker", state="starting", process=None, stages=[{"name": "launched", "at": ""}]),
            an_instance("worker", state="starting", process=None, stages=[{"name": "requested", "at": ""}]),
            an_instance("worker", state="stopping"),
        ],
        "dask": {
            **{"schedulerAddress": "tls://10.0.0.4:8786", "workersWanted": 8, "workersStarted": 2, "workersErrored": 1},
            "adaptive": {"minimum": 2, "maximum": 9},
        },
        "events": [{"at": "2026-11-01T12:00:00.000Z", "code": f"EVENT_{nth}", "text": "<i>text"} for nth in range(6)],
    }
    return cast("ClusterView", {**view, **change})


def test_workers_by_state_include_the_missing_and_the_given_up() -> None:
    expected = {"Provisioning": 3, "Booting": 1, "Environment": 1, "Starting": 0, "Ready": 2, "Stopping": 1, "Error": 1}
    assert count_workers(a_view()) == expected
    assert set(count_workers(a_view(dask=None, instances=[])).values()) == {0}


def test_the_terminal_shows_overview_configuration_bars_and_the_newest_events() -> None:
    console = Console(file=io.StringIO(), width=120, force_terminal=True, color_system=None)
    shown = TerminalPanel(console)
    shown.update(a_view())
    shown.stop()
    text = cast("io.StringIO", console.file).getvalue()
    for part in ("Overview", "tls://10.0.0.4:8786", "$1.25 an hour", "aws, us-west-2", "6 x m6i.xlarge spot", "adaptive 2 to 9"):
        assert part in text
    bars = {line.split()[1]: line.count("━") for line in text.splitlines() if line.startswith("│") and "━" in line}
    assert bars.keys() == {"Provisioning", "Booting", "Environment", "Ready", "Stopping", "Error"}
    assert bars["Provisioning"] > bars["Ready"] > bars["Booting"] > 0
    assert "EVENT_5" in text and "EVENT_1" not in text


def test_a_name_is_not_markup() -> None:
    console = Console(file=io.StringIO(), width=100, force_terminal=True, color_system=None)
    shown = TerminalPanel(console)
    shown.update(a_view(name="[bold]blue[/nonsense]"))
    shown.stop()
    assert "[bold]blue[/nonsense]" in cast("io.StringIO", console.file).getvalue()


def test_html_is_escaped() -> None:
    text = html_panel(a_view())
    assert "Cluster 7 (&lt;b&gt;blue): scaling" in text and "&lt;i&gt;text" in text
    assert "<b>blue" not in text and "<i>" not in text


def test_a_notebook_has_one_output_that_is_replaced() -> None:
    shown: list[Any] = []

    def display(bundle: Any, **options: Any) -> Any:
        shown.append(("new", bundle, options))
        return SimpleNamespace(update=lambda bundle, **options: shown.append(("update", bundle, options)))

    widget = NotebookPanel(display)
    widget.update(a_view())
    widget.update(a_view(status="ready"))
    widget.stop()
    assert [what for what, _, _ in shown] == ["new", "update"]
    assert shown[0][2] == {"raw": True, "display_id": True}
    assert shown[1][1]["text/plain"].startswith("Cluster 7 (<b>blue): ready, workers: 3 provisioning")


class Recorder:
    def __init__(self) -> None:
        self.views: list[ClusterView] = []
        self.stops = 0

    def update(self, view: ClusterView) -> None:
        self.views.append(view)

    def stop(self) -> None:
        self.stops += 1


def test_a_custom_widget_gets_the_views_of_the_start_in_place_of_lines(start: Start, capsys: Any) -> None:
    widget = Recorder()
    start(n_workers=2, wait_for_workers=True, custom_widget=widget, quiet=False)
    assert widget.stops == 1
    assert widget.views[0]["status"] == "pending"
    assert widget.views[-1]["status"] == "ready"
    assert "of 2 workers" not in capsys.readouterr().err


def test_it_ends_with_a_failed_start(start: Start, api: StandIn) -> None:
    widget = Recorder()
    api.outcome = {"status": "error", "reason": {"code": "NO_WORKERS", "text": "none"}}
    with pytest.raises(Exception, match="has ended"):
        start(custom_widget=widget)
    assert widget.stops == 1
    assert widget.views[-1]["status"] == "error"


def test_a_widget_that_fails_is_a_warning(start: Start) -> None:
    class Broken(Recorder):
        def update(self, view: ClusterView) -> None:
            raise KeyError("no such thing")

    with pytest.warns(UserWarning, match="The widget failed.*no such thing"):
        cluster = start(custom_widget=Broken())
    assert cluster.status.name == "running"


def test_other_values_are_refused(start: Start, api: StandIn) -> None:
    with pytest.raises(ValueError, match="custom_widget is 'rich': give True, or an object with the methods update"):
        start(custom_widget="rich")
    assert api.requests == []


def test_rich_is_needed_outside_of_notebooks_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(choose_widget(True, True), TerminalPanel)
    monkeypatch.setattr(panel, "_ipython", lambda: SimpleNamespace(kernel=object()))
    monkeypatch.setattr(panel, "_has_rich", lambda: False)
    assert isinstance(choose_widget(True, None), NotebookPanel)
    assert choose_widget(False, None) is None
    with pytest.raises(ValueError, match="needs the package rich: pip install rich"):
        choose_widget(True, True)


def test_a_program_prints_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(panel, "_ipython", lambda: None)
    assert choose_widget(True, None) is None
    # IPython on a terminal: output that a program reads stays in lines.
    monkeypatch.setattr(panel, "_ipython", object)
    assert choose_widget(True, None) is None
