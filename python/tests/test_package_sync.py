"""Package sync: the read parts of this environment, the builds and the uploads. Real metadata, wheels and git."""

from __future__ import annotations

import io
import json
import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

import pytest
from stand_in import StandIn
from support import Start

from ropewalk.package_sync.archives import PackageFile
from ropewalk.package_sync.installed import Installed, list_installed
from ropewalk.package_sync.options import CRITICAL, PackageSyncOptions, read_options
from ropewalk.package_sync.plan import LeftOut, Plan, check, make_plan
from ropewalk.package_sync.problems import PackageSyncError
from ropewalk.package_sync.wheels import wheel_of_files, wheel_of_project

HERE = f"{sys.version_info.major}.{sys.version_info.minor}"


def install(site: Path, name: str, version: str = "1.0", *, origin: Any = None, more: dict[str, str] | None = None) -> None:
    """An installer's metadata of a package with one module."""
    information = site / f"{name}-{version}.dist-info"
    information.mkdir(parents=True)
    module = name.lower().replace("-", "_")
    files = {
        f"{module}.py": "value = 1\n",
        f"{information.name}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{information.name}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{information.name}/INSTALLER": "pip\n",
        **(more or {}),
    }
    if origin is not None:
        files[f"{information.name}/direct_url.json"] = json.dumps(origin)
    for path, text in files.items():
        (site / path).write_text(text)
    record = "".join(f"{path},,\n" for path in [*files, f"{information.name}/RECORD", "../../bin/command"])
    (information / "RECORD").write_text(record)


def installed_in(site: Path) -> dict[str, Installed]:
    return {package.name: package for package in list_installed(distributions(path=[str(site)]))}


def options(**given: Any) -> PackageSyncOptions:
    read = read_options(**given)
    assert read is not None
    return read


def project(directory: Path, name: str, text: str) -> Path:
    directory.mkdir()
    (directory / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["flit_core"]\nbuild-backend = "flit_core.buildapi"\n\n'
        f'[project]\nname = "{name}"\nversion = "0.1"\ndescription = ""\n'
    )
    (directory / name).mkdir()
    (directory / name / "__init__.py").write_text(text)
    return directory


def names_in(file: PackageFile) -> list[str]:
    return sorted(zipfile.ZipFile(io.BytesIO(file.content)).namelist())


class TestInstalled:
    def test_a_package_is_brought_as_its_installer_says_where_it_is_from(self, tmp_path: Path) -> None:
        install(tmp_path, "From_Index")
        install(tmp_path, "from-url", origin={"url": "https://x/from_url-1.0.whl", "archive_info": {}})
        install(tmp_path, "from-git", origin={"url": "https://x/g", "vcs_info": {"vcs": "git", "commit_id": "1"}})
        install(tmp_path, "from-file", origin={"url": "file:///tmp/from_file-1.0.whl", "archive_info": {}})
        install(tmp_path, "from-conda", origin={"url": "file:///home/conda/feedstock_root/x/work", "dir_info": {}})
        install(tmp_path, "from-here", origin={"url": f"file://{tmp_path}", "dir_info": {"editable": True}})
        found = installed_in(tmp_path)
        assert {name: package.source for name, package in found.items()} == {
            "from-index": "index",
            "from-url": "url",
            "from-git": "files",
            "from-conda": "index",
            "from-file": "files",
            "from-here": "project",
        }
        assert found["from-here"].directory == tmp_path

    def test_the_first_of_two_with_one_name_counts(self, tmp_path: Path) -> None:
        install(tmp_path / "a", "mine", "2.0")
        install(tmp_path / "b", "Mine", "1.0")
        found = list_installed(distributions(path=[str(tmp_path / "a"), str(tmp_path / "b")]))
        assert [package.version for package in found] == ["2.0"]

    def test_a_damaged_installation_is_passed_over(self, tmp_path: Path) -> None:
        (tmp_path / "broken-1.0.dist-info").mkdir()
        assert list_installed(distributions(path=[str(tmp_path)])) == []

    def test_this_environment_has_dask_at_its_version(self) -> None:
        import dask

        plan = make_plan(options())
        assert f"dask=={dask.__version__}" in plan.requirements
        assert not any(one.startswith(("pip==", "uv==", "ropewalk==")) for one in plan.requirements)


class TestWheels:
    def test_installed_files_make_a_wheel_that_pip_would_take(self, tmp_path: Path) -> None:
        install(tmp_path, "from-git", origin={"url": "https://x/g", "vcs_info": {}})
        wheel = wheel_of_files(installed_in(tmp_path)["from-git"])
        assert wheel.name == "from_git-1.0-py3-none-any.whl"
        information = "from-git-1.0.dist-info"
        assert names_in(wheel) == [f"{information}/METADATA", f"{information}/RECORD", f"{information}/WHEEL", "from_git.py"]
        record = zipfile.ZipFile(io.BytesIO(wheel.content)).read(f"{information}/RECORD").decode()
        assert all(line.endswith(f"{information}/RECORD,,") or ",sha256=" in line for line in record.splitlines())

    def test_a_universal_wheel_is_one_for_python_3(self, tmp_path: Path) -> None:
        tags = "Wheel-Version: 1.0\nTag: py2-none-any\nTag: py3-none-any\n"
        more = {"old-1.0.dist-info/WHEEL": tags}
        install(tmp_path, "old", origin={"url": "https://x/g", "vcs_info": {}}, more=more)
        assert wheel_of_files(installed_in(tmp_path)["old"]).name == "old-1.0-py3-none-any.whl"

    def test_a_project_is_built_as_it_is_now_and_only_when_it_has_changed(self, tmp_path: Path) -> None:
        directory = project(tmp_path / "project", "mine", "value = 1\n")
        package = Installed("mine", "0.1", "project", next(iter(distributions())), directory=directory)
        first = wheel_of_project(package, tmp_path / "cache")
        assert "mine/__init__.py" in names_in(first)
        kept = sorted((tmp_path / "cache").iterdir())
        assert wheel_of_project(package, tmp_path / "cache").sha256 == first.sha256
        assert sorted((tmp_path / "cache").iterdir()) == kept
        (directory / "mine" / "__init__.py").write_text("value = 22\n")
        assert wheel_of_project(package, tmp_path / "cache").sha256 != first.sha256
        # The same content, built again: the same file.
        (directory / "mine" / "__init__.py").write_text("value = 1\n")
        assert wheel_of_project(package, tmp_path / "other").sha256 == first.sha256

    def test_a_project_that_cannot_be_built_is_named(self, tmp_path: Path) -> None:
        directory = project(tmp_path / "project", "mine", "")
        (directory / "pyproject.toml").write_text("[build-system]\nrequires = []\nbuild-backend = 'no_such_backend'\n")
        package = Installed("mine", "0.1", "project", next(iter(distributions())), directory=directory)
        with pytest.raises(PackageSyncError, match="no wheel of mine could be built from") as caught:
            wheel_of_project(package, tmp_path / "cache")
        assert 'package_sync_ignore=["mine"]' in (caught.value.hint or "")

    def test_a_project_that_has_been_removed_is_named(self, tmp_path: Path) -> None:
        package = Installed("mine", "0.1", "project", next(iter(distributions())), directory=tmp_path / "gone")
        with pytest.raises(PackageSyncError, match="mine was installed from .*gone, which is not there"):
            wheel_of_project(package, tmp_path / "cache")


class TestOptions:
    @pytest.mark.parametrize(
        ("given", "error"),
        [
            ({"package_sync": "pandas"}, "give True, False or a list"),
            ({"ignore": "pandas"}, "package_sync_ignore is 'pandas'"),
            ({"fail_on": "never"}, "package_sync_fail_on is 'never'"),
            ({"package_sync": ["a"], "only": ["b"]}, "give one of them"),
        ],
    )
    def test_wrong_ones_are_refused_by_name(self, given: dict[str, Any], error: str) -> None:
        with pytest.raises((TypeError, ValueError), match=error):
            read_options(**given)

    def test_false_turns_it_off(self) -> None:
        assert read_options(False) is None

    def test_a_choice_always_has_what_dask_needs(self) -> None:
        assert options(package_sync=["My_Package"]).only == {"my-package"} | CRITICAL

    def test_the_plan_has_what_was_chosen(self, tmp_path: Path) -> None:
        install(tmp_path, "one")
        install(tmp_path, "two")
        packages = list(installed_in(tmp_path).values())
        assert make_plan(options(only=["two"]), packages).requirements == ["two==1.0"]
        # An ignored package must not be restored as a dependency of another one.
        assert make_plan(options(ignore=["Two"]), packages).requirements == ["one==1.0", 'two ; sys_platform == "excluded"']

    def test_a_local_version_is_taken_from_the_index_without_its_local_part(self, tmp_path: Path) -> None:
        install(tmp_path, "torch", "2.1.0+cu118")
        plan = make_plan(options(), list(installed_in(tmp_path).values()))
        assert plan.requirements == ["torch==2.1.0"] and "2.1.0+cu118" in plan.notes[0]


class TestLevels:
    def plan(self, level: Any) -> Plan:
        return Plan(left_out=[LeftOut(level, "torch", "it exists elsewhere")])

    @pytest.mark.parametrize(
        ("level", "given", "fails"),
        [
            ("critical", {}, True),
            ("warning", {}, False),
            ("warning", {"fail_on": "warning-or-higher"}, True),
            ("info", {"fail_on": "warning-or-higher"}, False),
            ("info", {"fail_on": "any"}, True),
            ("info", {"strict": True}, True),
        ],
    )
    def test_what_is_left_out_fails_by_its_level(self, level: str, given: dict[str, Any], fails: bool) -> None:
        if not fails:
            return check(self.plan(level), options(**given))
        with pytest.raises(PackageSyncError, match="torch: it exists elsewhere"):
            check(self.plan(level), options(**given))

    def test_packages_of_other_systems_are_left_out(self, tmp_path: Path) -> None:
        install(tmp_path, "appnope")
        plan = make_plan(options(), list(installed_in(tmp_path).values()))
        assert plan.requirements == ['appnope ; sys_platform == "excluded"'] and [one.package for one in plan.left_out] == ["appnope"]

    def test_a_file_that_the_server_would_refuse_is_named(self) -> None:
        with pytest.raises(PackageSyncError, match="big.whl has 17.0 MiB"):
            check(Plan(files=[PackageFile("big.whl", b"0" * 17 * 1024 * 1024)]), options())


class TestClusters:
    def test_a_cluster_without_arguments_has_this_environment(self, start: Start, api: StandIn, tmp_path: Path) -> None:
        sys.path.insert(0, str(tmp_path))
        try:
            (tmp_path / "beside_the_program.py").write_text("value = 1\n")
            start(n_workers=1)
            start(n_workers=1)
        finally:
            sys.path.remove(str(tmp_path))
        first, second = (body["software"] for body in api.sent("/v1/clusters"))
        assert first == second and first["pinned"] is True and first["python"] == HERE
        [file] = [one for one in first["packageFiles"] if one["name"] == "modules.zip"]
        assert "beside_the_program.py" in names_in(PackageFile("modules.zip", api.package_files[file["sha256"]]))
        # Uploaded once.
        uploads = [path for method, path, _, _ in api.requests if method == "PUT"]
        assert len(uploads) == len(set(uploads)) == len(first["packageFiles"])

    def test_requirements_and_package_sync_exclude_each_other(self, start: Start, api: StandIn) -> None:
        start(requirements=["pandas"], n_workers=1)
        start(package_sync=False, n_workers=1)
        assert all(body["software"]["requirements"] and "pinned" not in body["software"] for body in api.sent("/v1/clusters"))
        with pytest.raises(ValueError, match="requirements and package_sync"):
            start(requirements=["pandas"], package_sync=True)
