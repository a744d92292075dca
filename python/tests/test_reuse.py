"""An existing cluster, found by its name: it keeps its environment, and reports the differences from the caller's."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest
from stand_in import StandIn
from support import Start

from ropewalk import reuse
from ropewalk.package_sync.options import read_options
from ropewalk.reuse import Environment, difference, missing_imports


def test_what_differs_is_named_by_module_and_package() -> None:
    here = Environment({"pandas": "3.0", "dask": "2026.8.0", "x": "1.3"}, {"side.py": "a", "pkg/__init__.py": "b", "same.py": "c"})
    there = Environment({"pandas": "3.0+local", "x": "1.2", "more": "1"}, {"pkg/__init__.py": "other", "same.py": "c"})
    assert difference(here, there) == (
        "modules that it has not: side; modules that have changed: pkg; packages dask 2026.8.0 (not there), x 1.3 (there 1.2)"
    )
    assert difference(here, here) is None


def test_what_is_missing_is_named_as_programs_import_it() -> None:
    imports = {"scikit-learn": ["sklearn"], "pandas": ["pandas"]}
    here = Environment({"scikit-learn": "1", "pandas": "3"}, {"side.py": "a", "pkg/a.py": "b", "pkg/b.py": "c"}, imports)
    there = Environment({"pandas": "2"}, {"pkg/a.py": "old"})
    assert missing_imports(here, there) == {"sklearn": "scikit-learn", "side": "the module side"}


def test_the_error_of_a_task_names_what_the_cluster_does_not_have(start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    start(n_workers=1, name="lacks", package_sync=False, shutdown_on_close=False)
    (tmp_path / "only_mine.py").write_text("S = 1\n")
    monkeypatch.setattr(reuse, "module_roots", lambda: [tmp_path])
    # The workers of the stand-in are in this process.
    monkeypatch.setattr(sys, "meta_path", sys.meta_path[:])
    cluster = start(n_workers=1, name="lacks", package_sync_only=["only_mine"])

    def use(name: str) -> None:
        importlib.import_module(name)

    with cluster.get_client() as client:
        with pytest.raises(ModuleNotFoundError, match="^No module named 'only_mine'. Cluster 1 keeps the environment .* does not have the module only_mine: ") as raised:
            client.submit(use, "only_mine").result()
        assert raised.value.name == "only_mine" and "take another name" in str(raised.value)
        with pytest.raises(ModuleNotFoundError, match="^No module named 'never_heard_of'$"):
            client.submit(use, "never_heard_of").result()
        # A program may search for it.
        assert client.submit(lambda: importlib.util.find_spec("only_mine")).result() is None


def test_nothing_is_synced_for_a_cluster_that_exists_and_the_difference_is_said(
    start: Start, api: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    start(n_workers=1, name="kept", package_sync=False, shutdown_on_close=False)
    (tmp_path / "not_there.py").write_text("S = 1\n")
    monkeypatch.setattr(reuse, "module_roots", lambda: [tmp_path])
    capsys.readouterr()
    before = len(api.requests)
    start(n_workers=1, name="kept", quiet=False, show_widget=False, package_sync_only=["not_there"])
    said = capsys.readouterr().err
    assert "Package sync" not in said
    assert "Cluster 1 keeps the environment that it was started with, and yours differs: modules that it has not: not_there." in said
    assert "take another name" in said
    paths = [path for method, path, _, _ in api.requests[before:] if method == "POST"]
    assert not [path for path in paths if "package-files" in path or path == "/v1/clusters"]


def test_an_equal_environment_says_nothing(start: Start, api: StandIn, capsys: Any) -> None:
    start(n_workers=1, name="equal", package_sync=False, shutdown_on_close=False)
    start(n_workers=1, name="equal", quiet=False, show_widget=False, package_sync_only=["distributed"])
    assert "keeps the environment" not in capsys.readouterr().err


def test_a_chosen_environment_is_not_compared(start: Start, api: StandIn, capsys: Any) -> None:
    start(n_workers=1, name="chosen", package_sync=False, shutdown_on_close=False)
    start(n_workers=1, name="chosen", quiet=False, show_widget=False, requirements=["pandas"])
    assert "keeps the environment" not in capsys.readouterr().err


def test_the_environment_of_this_process_leaves_out_what_says_nothing() -> None:
    options = read_options(True, ["toolz"], None, False, "critical-only", None)
    assert options is not None
    packages = reuse.environment_here(options).packages
    assert packages["distributed"] and not {"pip", "ropewalk", "toolz"} & packages.keys()
