"""Package sync of this process: creates the field `software` of a request, and uploads the packages that no package
index has."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ropewalk.client_api import ClientApi
from ropewalk.errors import RopewalkError
from ropewalk.package_sync.archives import PackageFile
from ropewalk.package_sync.options import PackageSyncOptions
from ropewalk.package_sync.plan import check, make_plan, software_of, summary_of, warnings_of
from ropewalk.package_sync.problems import PackageSyncError


def make_software(
    api: ClientApi,
    options: PackageSyncOptions,
    say: Callable[[str], None],
    until: float = math.inf,
    *,
    warn: Callable[[str], None] | None = None,
    programs: Sequence[Path] = (),
    roots: Sequence[Path] | None = None,
) -> dict[str, Any]:
    """Blocks: it may build wheels, and uploads files. `say` receives lines for the user, `warn` those about
    differences between the cluster's environment and this one; `programs` are scripts that will run there,
    `roots` the directories of modules, by default those of this process. Raises RopewalkError (PACKAGE_SYNC)
    when a required package cannot be sent, ClusterTimeoutError when `until` (time.monotonic) does not allow
    another attempt of a request."""
    try:
        plan = make_plan(options, roots=roots, programs=programs)
        for line in warnings_of(plan):
            (warn or say)(line)
        check(plan, options)
    except PackageSyncError as error:
        raise RopewalkError(error.message, code="PACKAGE_SYNC", hint=error.hint) from None
    say(summary_of(plan, upload(api, plan.files, until)))
    return software_of(plan)


def upload(api: ClientApi, files: Sequence[PackageFile], until: float = math.inf) -> int:
    """Uploads the files that the server lacks; returns their number."""
    if not files:
        return 0
    by_hash = {file.sha256: file for file in files}
    answer = api.request("POST", "/v1/missing-package-files", {"sha256s": list(by_hash)}, until=until)
    for sha256 in answer["missing"]:
        api.upload(f"/v1/package-files/{sha256}", by_hash[sha256].content, until=until)
    return len(answer["missing"])
