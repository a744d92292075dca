"""The user's options of package sync."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from .names import canonical

FailOn = Literal["critical-only", "warning-or-higher", "any"]

#: Packages that a Dask cluster cannot run without, and that both ends of a connection must have in the same version.
CRITICAL = frozenset({"cloudpickle", "dask", "distributed", "msgpack", "python", "tornado"})


@dataclass(frozen=True)
class PackageSyncOptions:
    """`only`: None for all packages. Names are in normal form (PEP 503)."""

    only: frozenset[str] | None
    ignore: frozenset[str]
    strict: bool
    fail_on: FailOn
    #: Names of conda packages, as written by the user.
    conda_extras: tuple[str, ...] = ()


def read_options(
    package_sync: bool | Collection[str] | None = None,
    ignore: Collection[str] | None = None,
    only: Collection[str] | None = None,
    strict: bool = False,
    fail_on: FailOn = "critical-only",
    conda_extras: Collection[str] | None = None,
    *,
    requirements: Sequence[str] | None = None,
    default: bool = True,
) -> PackageSyncOptions | None:
    """None when package sync is off: by `requirements`, which exclude it, or by `default` when `package_sync` is
    not given. Raises TypeError and ValueError naming the argument."""
    if requirements is not None and package_sync is not None and package_sync is not False:
        raise ValueError("requirements and package_sync both say what the environment has: give one of them")
    if requirements is not None or package_sync is False or (package_sync is None and not default):
        return None
    if isinstance(package_sync, str):
        raise TypeError(f'package_sync is {package_sync!r}: give True, False or a list of names, as in ["{package_sync}"]')
    listed = None if package_sync is None or package_sync is True else package_sync
    if listed is not None and only is not None:
        raise ValueError("package_sync names packages, and so does package_sync_only: give one of them")
    if fail_on not in get_args(FailOn):
        raise ValueError(f"package_sync_fail_on is {fail_on!r}: give one of {', '.join(get_args(FailOn))}")
    chosen = listed if listed is not None else only
    return PackageSyncOptions(
        only=None if chosen is None else _names(chosen, "package_sync_only") | CRITICAL,
        ignore=_names(ignore or (), "package_sync_ignore"),
        strict=strict,
        fail_on=fail_on,
        conda_extras=_listed(conda_extras or (), "package_sync_conda_extras"),
    )


def _names(values: Collection[str], argument: str) -> frozenset[str]:
    return frozenset(canonical(value) for value in _listed(values, argument))


def _listed(values: Collection[str], argument: str) -> tuple[str, ...]:
    if isinstance(values, str):
        raise TypeError(f'{argument} is {values!r}: give a list of names, as in ["{values}"]')
    return tuple(values)
