"""Named environments: a name refers to a Python environment or an image, and clusters and jobs use it by name. uv
on this machine, which can access private indexes, resolves the versions; the server never runs code of a
package."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from ropewalk.client_api import ClientApi
from ropewalk.config import load_config
from ropewalk.containers import registry_credentials
from ropewalk.errors import RopewalkError
from ropewalk.package_sync.conda import requirements_of
from ropewalk.package_sync.problems import PackageSyncError

_PLATFORM = "x86_64-unknown-linux-gnu"
_RESOLVE_TIMEOUT_S = 600
_PASSWORD = re.compile(r"://[^/@\s]*@")


def create_software_environment(
    name: str,
    *,
    conda: Any = None,
    pip: Sequence[str] | str | Path | None = None,
    container: str | None = None,
    use_entrypoint: bool = True,
    registry_auth: Mapping[str, tuple[str, str]] | None = None,
    python: str | None = None,
    resolve: bool = True,
    api_url: str | None = None,
    token: str | None = None,
) -> dict[str, Any]:
    """Creates a named environment, or changes its content. Running clusters and jobs keep theirs.

    Parameters
    ----------
    name: letters, digits, ".", "_" and "-"; for `Cluster(software=name)` and `batch.run(..., software=name)`.
    pip: requirements, or the path of a requirements.txt or pyproject.toml.
    container, use_entrypoint, registry_auth: an image instead; see `Cluster`.
    conda: packages of conda-forge: a list, the content of an environment.yml, or its path. They are installed from package indexes
        under their names there; RopewalkError names those that none has.
    python: version of Python, as in "3.12"; the instance's own unless given.
    resolve: False keeps the requirements as they are written: each instance resolves them.

    Examples
    --------
    >>> ropewalk.create_software_environment("science", pip=["pandas", "xarray==2026.4.0"], python="3.12")
    """
    if sum(source is not None for source in (pip, container, conda)) != 1:
        raise ValueError("give either pip, conda or container")
    if conda is not None:
        pip, version = _of_conda(conda)
        python = python or version
    if container is not None:
        body: dict[str, Any] = {"container": container, "ignoreContainerEntrypoint": not use_entrypoint}
        if registry_auth is not None:
            body["registryAuth"] = registry_credentials(registry_auth)
    else:
        software: dict[str, Any] = {"requirements": _requirements(pip or [], python, resolve), "pinned": resolve}
        body = {"software": {**software, "python": python} if python is not None else software}
    answer: dict[str, Any] = _api(api_url, token).request("PUT", _path(name), body)
    return answer


def list_software_environments(*, api_url: str | None = None, token: str | None = None) -> dict[str, dict[str, Any]]:
    """Named environments of the workspace, by name."""
    api, found, after = _api(api_url, token), dict[str, dict[str, Any]](), ""
    while True:
        page = api.request("GET", f"/v1/environments?limit=1000{after}")
        found |= {one["name"]: one for one in page["items"]}
        if page["next"] is None:
            return found
        after = f"&after={quote(page['next'], safe='')}"


def get_software_info(name: str, *, api_url: str | None = None, token: str | None = None) -> dict[str, Any]:
    """The content of a named environment. Raises RopewalkError NOT_FOUND."""
    answer: dict[str, Any] = _api(api_url, token).request("GET", _path(name))
    return answer


def delete_software_environment(name: str, *, api_url: str | None = None, token: str | None = None) -> None:
    """Deletes the name; running clusters and jobs keep the environment. Raises RopewalkError NOT_FOUND."""
    _api(api_url, token).request("DELETE", _path(name))


def _of_conda(conda: Any) -> tuple[list[str], str | None]:
    try:
        return requirements_of(yaml.safe_load(Path(conda).read_text()) if isinstance(conda, (str, Path)) else conda)
    except PackageSyncError as error:
        raise RopewalkError(error.message, code="ENVIRONMENT", hint=error.hint) from None
    except yaml.YAMLError as error:
        raise ValueError(f"conda: {conda} is no YAML: {error}") from None


def _api(api_url: str | None, token: str | None) -> ClientApi:
    return ClientApi(load_config(api_url, token))


def _path(name: str) -> str:
    return f"/v1/environments/{quote(name, safe='')}"


def _requirements(pip: Sequence[str] | str | Path, python: str | None, resolve: bool) -> list[str]:
    if isinstance(pip, (str, Path)):
        source, text = str(pip), Path(pip).read_text()
    else:
        source, text = "-", "\n".join(pip)
    if not resolve:
        if source.endswith(".toml"):
            raise ValueError("resolve=False: a pyproject.toml is read by uv, which resolves it")
        return _written_lines(text, "of pip" if source == "-" else f"of {Path(source).name}")
    uv = shutil.which("uv")
    if uv is None:
        raise RopewalkError(
            "uv, which resolves versions, is not on the PATH.",
            code="ENVIRONMENT",
            hint="Install it (pip install uv), or use resolve=False.",
        )
    version = [] if python is None else ["--python-version", python]
    flags = ["--quiet", "--no-header", "--no-annotate", "--python-platform", _PLATFORM, *version]
    # Requirements by stdin: a URL may contain a password, and every user of a machine can read arguments.
    done = subprocess.run(
        [uv, "pip", "compile", *flags, source], input=text, capture_output=True, text=True, timeout=_RESOLVE_TIMEOUT_S
    )
    if done.returncode != 0:
        said = _PASSWORD.sub("://[secret]@", done.stderr.strip()[-2_000:])
        raise RopewalkError(f"uv cannot resolve the environment: {said}", code="ENVIRONMENT")
    return _pinned_lines(done.stdout)


def _written_lines(text: str, source: str) -> list[str]:
    """Instances resolve these lines, and support no pip options: a file with options is refused, not shortened."""
    lines = _without_comments(text)
    for number, line in lines:
        if line.startswith("-"):
            # Only the option's name: the URL of an index may contain a password.
            option = line[:2] if not line.startswith("--") else re.split(r"[=\s]", line, maxsplit=1)[0]
            raise ValueError(
                f"resolve=False: line {number} {source} is the option {option}, which instances do not get: "
                "write the packages themselves, or let uv resolve them"
            )
    return [line for _, line in lines]


def _pinned_lines(text: str) -> list[str]:
    """uv's resolved lines; its other options only name this machine's package sources."""
    lines = [line for _, line in _without_comments(text)]
    for line in lines:
        if re.match(r"(-e|--editable)\b", line):
            raise ValueError(f"{line} is a project on this machine, which instances cannot install: give the URL of a wheel")
    return [line for line in lines if not line.startswith("-")]


def _without_comments(text: str) -> list[tuple[int, str]]:
    lines = ((number, re.sub(r"(^|\s)#.*", "", line).strip()) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in lines if line]
