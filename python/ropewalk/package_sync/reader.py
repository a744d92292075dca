"""Run by `ropewalk batch run` with the user's Python: reads options as JSON from the standard input, and writes the
software of a job to the directory in the first argument: result.json, and each package file under its SHA-256.
That Python need not have ropewalk installed."""

import sys

_here = sys.path[0]
# This directory's modules have names such as `imports`; a program must not find them.
del sys.path[0]

import importlib  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import re  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

_PACKAGE = "_ropewalk_package_sync"


def main(into: Path) -> None:
    if sys.version_info < (3, 10):
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        return leave(into, {"error": f"Package sync needs Python 3.10 or later, and {sys.executable} is {version}.", "hint": None})
    load_package(Path(__file__).resolve().parent)
    problems = importlib.import_module(f"{_PACKAGE}.problems")
    try:
        leave(into, read(json.load(sys.stdin), into))
    except problems.PackageSyncError as error:
        leave(into, {"error": error.message, "hint": as_options(error.hint)})


def read(given: "dict[str, Any]", into: Path) -> "dict[str, Any]":
    options_of = importlib.import_module(f"{_PACKAGE}.options").read_options
    plans = importlib.import_module(f"{_PACKAGE}.plan")
    modules = importlib.import_module(f"{_PACKAGE}.modules")
    try:
        options = options_of(
            True if given["only"] is None else given["only"],
            given["ignore"],
            None,
            given["strict"],
            given["failOn"],
            given["condaExtras"],
        )
    except (TypeError, ValueError) as error:
        return {"error": as_options(str(error)), "hint": None}
    # In the order of a running program: the directory beside it first.
    roots = list(dict.fromkeys([*(Path(place).resolve() for place in given["roots"]), *modules.module_roots()]))
    plan = plans.make_plan(options, roots=roots, programs=[Path(path) for path in given["programs"]])
    warnings = [as_options(line) for line in plans.warnings_of(plan)]
    try:
        plans.check(plan, options)
    except Exception as error:
        if not hasattr(error, "hint"):
            raise
        return {"error": error.message, "hint": as_options(error.hint), "warnings": warnings}  # type: ignore[attr-defined]
    for file in plan.files:
        (into / file.sha256).write_bytes(file.content)
    return {"software": plans.software_of(plan), "summary": plans.summary_of(plan, 0), "warnings": warnings}


def load_package(directory: Path) -> None:
    spec = importlib.util.spec_from_file_location(
        _PACKAGE, directory / "__init__.py", submodule_search_locations=[str(directory)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[_PACKAGE] = module
    spec.loader.exec_module(module)


def as_options(text: str) -> str:
    """Replaces arguments of Python by options of the command line."""
    text = text.replace("package_sync=False", "--no-package-sync").replace("=[...]", " NAME")
    text = re.sub(r'package_sync(\w+)=\["([^"]*)"\]', r"package_sync\1 \2", text)
    return re.sub(r"package_sync_(\w+)", lambda match: f"--package-sync-{match[1].replace('_', '-')}", text)


def leave(into: Path, result: "dict[str, Any]") -> None:
    temporary = into / "result.json.new"
    # Private, because it contains credentials of indexes.
    with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(result, file)
    temporary.replace(into / "result.json")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
