"""The modules beside a program that a cluster gets. Real files and git."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hostile_repository import incomplete_repository

from ropewalk.package_sync.archives import zip_of
from ropewalk.package_sync.modules import collect_modules, imported_names, module_roots
from ropewalk.package_sync.problems import PackageSyncError


class TestModules:
    def make(self, root: Path) -> Path:
        for path, text in {
            "helpers.py": "x = 1",
            "package/__init__.py": "",
            "package/deep/inner.py": "y = 2",
            "package/data.json": "{}",
            "package/__pycache__/inner.pyc": "no",
            "no_package/loose.py": "",
            "not-a-module.py": "",
            "notes.txt": "",
            ".hidden/__init__.py": "",
            "venv/__init__.py": "",
            "venv/pyvenv.cfg": "",
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    def test_what_python_could_import_is_taken(self, tmp_path: Path) -> None:
        modules = collect_modules([self.make(tmp_path)])
        assert sorted(modules.files) == ["helpers.py", "package/__init__.py", "package/data.json", "package/deep/inner.py"]
        assert modules.names == ["helpers", "package"]

    def test_a_directory_without_init_is_taken_once_it_was_imported(self, tmp_path: Path) -> None:
        assert "no_package/loose.py" in collect_modules([self.make(tmp_path)], imported={"no_package"}).files

    def test_what_is_ignored_by_name_or_by_git_stays(self, tmp_path: Path) -> None:
        self.make(tmp_path)
        assert collect_modules([tmp_path], ignore={"package"}).names == ["helpers"]
        assert collect_modules([tmp_path], only={"package"}).names == ["package"]
        subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
        (tmp_path / ".gitignore").write_text("helpers.py\ndata.json\n")
        assert sorted(collect_modules([tmp_path]).files) == ["package/__init__.py", "package/deep/inner.py"]

    def test_a_program_that_the_repository_names_does_not_run(self, tmp_path: Path) -> None:
        self.make(tmp_path)
        subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
        ran = tmp_path / "ran"
        subprocess.run(["git", "-C", str(tmp_path), "config", "core.fsmonitor", f"touch {ran}; false"], check=True)
        (tmp_path / ".gitignore").write_text("helpers.py\n")
        assert collect_modules([tmp_path]).names == ["package"]
        assert not ran.exists()
        # The same listing without the guard runs it.
        subprocess.run(["git", "-C", str(tmp_path), "ls-files", "--others"], capture_output=True, timeout=60)
        assert ran.exists()

    def test_a_repository_fetches_no_missing_object_by_a_program_that_it_names(self, tmp_path: Path) -> None:
        self.make(tmp_path)
        ran = incomplete_repository(tmp_path)
        assert "helpers" in collect_modules([tmp_path]).names
        assert not ran.exists()
        # The same listing without the guard runs it.
        listing = ["ls-files", "--others", "--exclude-standard"]
        subprocess.run(["git", "-C", str(tmp_path), *listing], capture_output=True, timeout=60)
        assert ran.exists()

    def test_modules_of_the_standard_library_are_not_hidden(self, tmp_path: Path) -> None:
        (tmp_path / "random.py").write_text("")
        modules = collect_modules([tmp_path])
        assert modules.files == {} and modules.shadowing == [str(tmp_path / "random.py")]

    def test_files_in_which_programs_keep_secrets_stay(self, tmp_path: Path) -> None:
        self.make(tmp_path)
        for name in ("id_rsa", "server.pem", "credentials.json", ".env"):
            (tmp_path / "package" / name).write_text("secret")
        (tmp_path / "package" / "credentials.py").write_text("")
        secret = [path for path in collect_modules([tmp_path]).files if b"secret" in collect_modules([tmp_path]).files[path]]
        assert secret == [] and "package/credentials.py" in collect_modules([tmp_path]).files

    def test_links_to_files_in_which_programs_keep_secrets_stay(self, tmp_path: Path) -> None:
        home, root = tmp_path / "home", self.make(tmp_path)
        for place in (".aws/config", ".ssh/known", ".netrc", "server.pem", "shared.py"):
            (home / place).parent.mkdir(parents=True, exist_ok=True)
            (home / place).write_text("secret" if place != "shared.py" else "S = 1")
        for nth, place in enumerate((".aws/config", ".ssh/known", ".netrc", "server.pem", "shared.py")):
            (root / "package" / f"link{nth}.py").symlink_to(home / place)
        (root / "direct.py").symlink_to(home / ".netrc")
        (root / "itself.py").symlink_to(root / "itself.py")
        files = collect_modules([root]).files
        assert [path for path, content in files.items() if content == b"secret"] == []
        assert files["package/link4.py"] == b"S = 1"

    def test_a_package_may_have_a_directory_named_build(self, tmp_path: Path) -> None:
        (self.make(tmp_path) / "package" / "build").mkdir()
        (tmp_path / "package" / "build" / "steps.py").write_text("")
        assert "package/build/steps.py" in collect_modules([tmp_path]).files

    def test_the_first_root_wins(self, tmp_path: Path) -> None:
        for name in ("first", "second"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "same.py").write_text(name)
        assert collect_modules([tmp_path / "first", tmp_path / "second"]).files == {"same.py": b"first"}

    def test_large_files_are_named_and_left_out(self, tmp_path: Path) -> None:
        (self.make(tmp_path) / "package" / "model.bin").write_bytes(b"0" * (1024 * 1024 + 1))
        modules = collect_modules([tmp_path])
        assert modules.too_large == [str(tmp_path / "package" / "model.bin")]

    def test_a_directory_that_was_removed_meanwhile_has_nothing(self, tmp_path: Path) -> None:
        assert collect_modules([tmp_path / "removed"]).files == {}

    def test_too_many_bytes_are_refused_with_the_largest_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ropewalk.package_sync.modules.MAX_BYTES", 4)
        with pytest.raises(PackageSyncError, match=r"larger than .* The largest: .*helpers\.py") as caught:
            collect_modules([self.make(tmp_path)])
        assert "package_sync=False" in (caught.value.hint or "")

    def test_roots_are_the_directories_that_no_installer_manages(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own, elsewhere = tmp_path / "own", tmp_path / "project"
        scratch = tmp_path / "dask-scratch-space" / "worker-1"
        for place in (own, elsewhere / "src", scratch):
            place.mkdir(parents=True)
        monkeypatch.setattr(sys, "path", [*sys.path, str(own), str(elsewhere / "src"), str(tmp_path / "missing"), str(scratch)])
        roots = module_roots()
        assert own in roots and elsewhere / "src" in roots and scratch not in roots
        assert not any("site-packages" in str(root) for root in roots)
        (own / "fresh_module_of_a_test.py").write_text("")
        import fresh_module_of_a_test

        assert fresh_module_of_a_test.__name__ in imported_names(roots)

    def test_equal_files_make_equal_archives(self) -> None:
        assert zip_of({"a.py": b"1", "b.py": b"2"}) == zip_of({"b.py": b"2", "a.py": b"1"})
