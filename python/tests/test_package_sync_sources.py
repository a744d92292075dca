"""Package sync: packages of conda, private indexes, headers of scripts. Real files of configuration."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from ropewalk.batch.files import JobFile
from ropewalk.batch.header import SyncHeader
from ropewalk.package_sync.conda import requested_without_python, requirement_of, requirements_of
from ropewalk.package_sync.indexes import Index, find_indexes
from ropewalk.package_sync.options import read_options
from ropewalk.package_sync.plan import make_plan
from ropewalk.package_sync.problems import PackageSyncError


@pytest.mark.parametrize(
    ("spec", "requirement"),
    [
        ("pytorch", "torch"),
        ("pytorch=2.3", "torch==2.3.*"),
        ("conda-forge::xgboost==2.0.3", "xgboost==2.0.3"),
        ("numpy >=1.26", "numpy>=1.26"),
        ("pandas=2.2.1=py312_0", "pandas==2.2.1.*"),
        ("gdal", None),
        ("libgdal", None),
        ("r-ggplot2", None),
        ("", None),
    ],
)
def test_packages_of_conda_have_their_names_on_the_index(spec: str, requirement: str | None) -> None:
    assert requirement_of(spec) == requirement


def test_an_environment_yml_is_read_as_requirements() -> None:
    listed = ["python=3.12.4", "pip", "pytorch=2.3", "pandas=2.2.1=py312_0", {"pip": ["a==1.0"]}]
    assert requirements_of({"dependencies": listed}) == (["torch==2.3.*", "pandas==2.2.1.*", "a==1.0"], "3.12")
    assert requirements_of(["numpy"]) == (["numpy"], None)
    with pytest.raises(PackageSyncError, match="no list of dependencies"):
        requirements_of({})


def test_extras_are_added_and_what_no_index_has_is_named(tmp_path: Path) -> None:
    options = read_options(conda_extras=["pytorch", "ffmpeg"])
    assert options is not None
    plan = make_plan(options, [], roots=[])
    assert plan.requirements == ["torch"]
    assert [(one.level, one.package) for one in plan.left_out] == [("warning", "ffmpeg")]


def test_what_conda_has_installed_beside_python_is_found(tmp_path: Path) -> None:
    (tmp_path / "conda-meta").mkdir()
    records = [("gdal", "gdal"), ("libproj", ""), ("pytorch", "pytorch"), ("python", "python=3.12"), ("ffmpeg", "ffmpeg")]
    for name, spec in records:
        (tmp_path / "conda-meta" / f"{name}.json").write_text(json.dumps({"name": name, "requested_spec": spec}))
    (tmp_path / "conda-meta" / "broken.json").write_text("{")
    assert requested_without_python({"torch"}, tmp_path) == ["ffmpeg", "gdal"]


class TestIndexes:
    def test_those_with_credentials_are_found_wherever_pip_and_uv_find_them(self, tmp_path: Path) -> None:
        (tmp_path / "pip").mkdir()
        (tmp_path / "pip" / "pip.conf").write_text(
            "[global]\nindex-url = https://ada:s%40cret@pip.example/simple\nextra-index-url =\n  https://open.example/simple\n"
        )
        (tmp_path / "uv.toml").write_text('[[index]]\nname = "team"\nurl = "https://uv.example:8443/simple"\n')
        (tmp_path / ".netrc").write_text("machine net.example login bob password hush\n")
        env = {
            "HOME": str(tmp_path),
            "XDG_CONFIG_HOME": str(tmp_path),
            "UV_INDEX": "https://token@var.example/simple https://net.example/simple",
            "UV_INDEX_TEAM_USERNAME": "eve",
            "UV_INDEX_TEAM_PASSWORD": "p",
        }
        assert find_indexes(env, tmp_path) == [
            Index("https://var.example/simple", "token", ""),
            Index("https://net.example/simple", "bob", "hush"),
            Index("https://uv.example:8443/simple", "eve", "p"),
            Index("https://pip.example/simple", "ada", "s@cret", default=True),
        ]

    def test_a_password_is_not_shown(self) -> None:
        assert "hush" not in repr(Index("https://a.example", "ada", "hush"))


class TestHeader:
    def header(self, text: str) -> SyncHeader:
        files: list[JobFile] = [{"path": "a.py", "content": base64.b64encode(text.encode()).decode(), "executable": False}]
        return SyncHeader(["python", "./a.py"], files)

    def test_options_of_package_sync_are_read(self) -> None:
        lines = ["package-sync-ignore a,b", "package_sync_ignore = 'c'", "package-sync-strict", "memory 8 GiB"]
        header = self.header("".join(f"# COILED {line}\n" for line in lines))
        assert header.names == ["package-sync-ignore", "package-sync-strict"]
        assert header.more("package-sync-ignore", ["d"]) == ["a", "b", "c", "d"]
        assert header.more("package-sync-only", None) is None
        assert header.flag("package-sync-strict") and not header.flag("no-package-sync") and not header.runtime

    def test_a_container_of_the_header_is_what_the_tasks_run_in(self) -> None:
        assert self.header("# COILED container daskdev/dask\n").runtime
        assert not self.header("# COILED run-on-host false\n").runtime
