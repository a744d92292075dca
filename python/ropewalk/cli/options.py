"""Common options of several commands: their declarations, and the parsing of their values."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ropewalk.batch.paths import connect as connect_api
from ropewalk.client_api import ClientApi
from ropewalk.config import Config, load_config
from ropewalk.logs import read_filter

F = TypeVar("F", bound=Callable[..., Any])

_UNITS_S = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}


if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    # Generic in newer versions of click only.
    _ParamType = click.ParamType


class Parsed(_ParamType):
    """A value that `parse` creates from a text. It raises ValueError; the user then sees `advice`."""

    name = "value"

    def __init__(self, parse: Callable[[str], Any], advice: str) -> None:
        self._parse = parse
        self._advice = advice

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self._parse(value)
        except ValueError as error:
            self.fail(str(error) or self._advice, param, ctx)


def _matching(pattern: str, convert: Callable[[str], Any], advice: str) -> Parsed:
    def parse(text: str) -> Any:
        if re.fullmatch(pattern, text) is None:
            raise ValueError(advice)
        return convert(text)

    return Parsed(parse, advice)


COUNT = _matching(r"-?\d{1,12}", int, "Give a whole number.")
AMOUNT = _matching(r"\d{1,7}", int, "Give a whole number, 0 or more.")
LIMIT = _matching(r"[1-9]\d{0,5}", int, "Give a whole number from 1 to 999999.")


def _reference(text: str) -> int | str:
    if re.fullmatch(r"[1-9]\d{0,11}", text):
        return int(text)
    if not text.isdecimal() and re.fullmatch(r"[a-zA-Z0-9][a-zA-Z0-9._-]{0,99}", text):
        return text
    raise ValueError


#: Digits are always a number, even when a name consists of digits.
REFERENCE = Parsed(_reference, "Give the number of a job or cluster, for example 12, or its name.")


def _since(text: str) -> datetime:
    ago = re.fullmatch(r"(\d{1,9})\s*(s|m|h|d)", text)
    if ago is not None:
        return datetime.now(timezone.utc) - timedelta(seconds=int(ago[1]) * _UNITS_S[ago[2]])
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone()
    except (ValueError, OverflowError):
        raise ValueError from None


SINCE = Parsed(_since, "Give a time (2026-01-31T12:00) or an age (10m, 2h).")


def _timeout(text: str) -> float:
    found = re.fullmatch(r"(\d{1,6}(?:\.\d{1,3})?)\s*(s|m|h)?", text)
    if found is None:
        raise ValueError
    return float(found[1]) * _UNITS_S[found[2] or "s"]


#: In seconds. Only for waits of this program: the server parses all other durations.
TIMEOUT = Parsed(_timeout, "Give seconds, or for example 90s, 5m, 1h.")


def option(*names: str, **settings: Any) -> Callable[[F], F]:
    """An option without click's own defaults: absent ones are None."""
    return click.option(*names, **settings)


def flag(*names: str, help: str, **settings: Any) -> Callable[[F], F]:
    return click.option(*names, is_flag=True, help=help, **settings)


def together(decorators: Sequence[Callable[[Any], Any]]) -> Callable[[F], F]:
    """In the order of the help."""

    def decorate(function: F) -> F:
        for one in reversed(decorators):
            function = one(function)
        return function

    return decorate


def with_connection(function: F) -> F:
    decorate: Callable[[F], F] = together(
        [
            option("--api-url", metavar="URL", help="address of the API (default: ROPEWALK_API_URL, then config.yaml)"),
            option(
                "--token-file",
                metavar="PATH",
                help="file that contains the token (default: ROPEWALK_TOKEN, then config.yaml)",
            ),
            option("--workspace", metavar="NAME", help="workspace of the token; an error when the token is of another one"),
        ]
    )
    return decorate(function)


def with_format(function: F) -> F:
    return click.option(
        "--format", "output_format", type=click.Choice(["table", "json"]), default="table", help="output format"
    )(function)


def with_filters(statuses: Sequence[str]) -> Callable[[F], F]:
    listed = ", ".join(statuses)
    return together(
        [
            option("--status", metavar="STATUS", help=f"only these: {listed}; several with commas"),
            option("--name", metavar="NAME", help="only those of exactly this name"),
            option("--user", metavar="USER", help="only those of this user"),
            option("--since", metavar="TIME", type=SINCE, help="only those started since then: a time, or how long ago (2h)"),
            option("--search", metavar="TEXT", help="only those with this text in name or command"),
            option("--limit", metavar="N", type=LIMIT, default=10, help="how many"),
        ]
    )


def with_log_options(subject: str) -> Callable[[F], F]:
    """`subject`: "the job", for the help."""
    return together(
        [
            option("--filter", "pattern", type=_FILTER, help="only lines with this text; %regex% for a regular expression"),
            flag("-f", "--follow", help=f"continue until {subject} has ended"),
            option("--since", type=SINCE, help="only lines since a time (2026-01-31T12:00) or an age (10m)"),
            click.option(
                "--format",
                "output_format",
                type=click.Choice(["text", "detailed", "short", "json"]),
                default="text",
                help="output format; detailed and short as aws logs tail has them; json is one object per line",
            ),
        ]
    )


_FILTER = Parsed(read_filter, "Give a text, or %regex%.")


def config_of(api_url: str | None, token_file: str | None) -> Config:
    return load_config(api_url, None if token_file is None else read_token(token_file))


def read_token(path: str) -> str:
    try:
        token = Path(path).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not text"
        raise click.UsageError(f"--token-file: cannot read {path}: {why}") from None
    if not token:
        raise click.UsageError(f"--token-file: {path} is empty")
    return token


def connect(api_url: str | None, token_file: str | None, workspace: str | None) -> ClientApi:
    """Raises RopewalkError before anything is sent to the wrong workspace."""
    config = config_of(api_url, token_file)
    return connect_api(config.api_url, config.token, workspace)
