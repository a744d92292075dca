"""`ropewalk login`, `logout` and `whoami`. No secret is a command-line argument: the code is shown here and approved in a browser."""

from __future__ import annotations

import getpass
import os
import re
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import yaml

from ropewalk.cli.errors import Interrupted
from ropewalk.cli.formats import format_time
from ropewalk.cli.options import connect, flag, read_token, with_connection, with_format
from ropewalk.cli.session import output
from ropewalk.client_api import ClientApi, is_temporary
from ropewalk.config import Config, config_file, load_api_url, read_config
from ropewalk.errors import RopewalkError

_MAX_TOKEN = 10_000

_LOGIN = """Sign in: get a token for this machine and store it.

Shows a code: open the address on any device, compare the code, and approve it with a token that you have. The new token is stored
in config.yaml in your Ropewalk home, readable only by you.

\b
  ropewalk login --api-url https://ropewalk.example.org
  ropewalk login --token < token.txt
"""


@click.command("login", help=_LOGIN)
@flag("--token", "from_stdin", help="read a token from standard input instead")
@with_connection
@with_format
def login(
    from_stdin: bool, api_url: str | None, token_file: str | None, workspace: str | None, output_format: str
) -> None:
    if from_stdin and token_file is not None:
        raise click.UsageError("--token and --token-file exclude each other")
    url = load_api_url(api_url)
    if from_stdin:
        token = _checked(_secret())
    elif token_file is not None:
        token = _checked(read_token(token_file))
    else:
        token = _by_device(url)
    # A token that does not work must not replace one that does.
    who = connect_with(url, token).request("GET", "/v1/whoami")
    if workspace is not None and workspace != who["workspace"]:
        raise click.UsageError(f"the token is of the workspace {who['workspace']}, not of {workspace}")
    path = config_file()
    _save(path, {"apiUrl": url, "token": token, "workspace": who["workspace"]})
    if output_format == "json":
        output.json(who)
    else:
        output.out(f"Signed in at {url} as {_format_whoami(who)}")
    output.err(f"The token is stored in {path}.")
    for name in ("ROPEWALK_API_URL", "ROPEWALK_TOKEN"):
        if os.environ.get(name):
            output.err(f"note: the environment variable {name} is set and overrides {path}")


def connect_with(url: str, token: str) -> ClientApi:
    return ClientApi(Config(url, token))


def _by_device(url: str) -> str:
    """Waits for a user's approval. Raises RopewalkError when the login was denied or the code has expired."""
    api = connect_with(url, "")
    client = f"ropewalk on {socket.gethostname()}"[:100]
    begun = api.request("POST", "/v1/login/device", {"client": client})
    output.err(f"Open {begun['verificationUrlComplete']}")
    output.err(f"or {begun['verificationUrl']} and enter the code. Approve it only if it is this one:\n\n  {begun['userCode']}\n")
    output.progress(f"Waiting for approval, for at most {round(begun['expiresInSeconds'] / 60)} minutes")
    try:
        while True:
            try:
                created = api.request("POST", "/v1/login/device/token", {"deviceCode": begun["deviceCode"]}, retry_for_s=0)
                return str(created["token"])
            except RopewalkError as error:
                if error.code != "AUTHORIZATION_PENDING":
                    if not is_temporary(error):
                        raise
                    output.progress(f"Retrying: {error.message}")
            time.sleep(begun["intervalSeconds"])
    except KeyboardInterrupt:
        raise Interrupted("Interrupted: not signed in.") from None


def _secret() -> str:
    """A terminal does not show it."""
    if sys.stdin.isatty():
        output.err("Paste the token (it is not shown) and press Enter:")
        text = getpass.getpass("")
    else:
        text = sys.stdin.read(_MAX_TOKEN + 1)
    if len(text) > _MAX_TOKEN:
        raise click.UsageError("standard input is too long for a token")
    if not text.strip():
        raise click.UsageError("standard input has no token. For example: ropewalk login --token < file")
    return text.strip()


def _checked(token: str) -> str:
    """The error does not contain the text, which may be a secret."""
    if re.fullmatch(r"rw_[a-z0-9-]+_[a-z0-9]+-[\w-]+", token) is None:
        raise click.UsageError("this is not a token. A token looks like rw_WORKSPACE_ID-SECRET, on one line.")
    return token


@click.command("logout", help="Revoke the token in config.yaml and delete it there.")
@flag("--local", help="only delete it from config.yaml: the token itself stays valid")
def logout(local: bool) -> None:
    path = config_file()
    saved = read_config(path)
    token, url = saved.get("token"), saved.get("apiUrl")
    if token is None:
        output.err(f"Not signed in: {path} has no token.")
    else:
        if not local:
            _revoke(load_api_url(url), token)
        _save(path, {"token": None, "workspace": None})
        text = "Signed out here: the token itself is still valid" if local else "Signed out: the token is revoked"
        output.out(text)
    if os.environ.get("ROPEWALK_TOKEN"):
        output.err("note: the environment variable ROPEWALK_TOKEN is set and is still used")


def _revoke(url: str, token: str) -> None:
    """An already revoked or expired token is not an error."""
    api = connect_with(url, token)
    try:
        api.request("POST", f"/v1/tokens/{api.request('GET', '/v1/whoami')['tokenId']}/revoke")
    except RopewalkError as error:
        if error.status != 401:
            raise


@click.command("whoami", help="Show the user, role and scopes of the token in use.")
@with_connection
@with_format
def whoami(output_format: str, **connection: Any) -> None:
    who = connect(**connection).request("GET", "/v1/whoami")
    if output_format == "json":
        output.json(who)
    else:
        output.out(_format_whoami(who))


def _format_whoami(who: Mapping[str, Any]) -> str:
    """`ada (workspace default): admin; token abcdefghijkl with the scopes read, write`"""
    until = "" if who["expiresAt"] is None else f" until {format_time(who['expiresAt'])}"
    token = f"token {who['tokenId']} with the scopes {', '.join(who['scopes'])}{until}"
    return f"{who['user']} (workspace {who['workspace']}): {who['role']}; {token}"


def _save(path: Path, change: Mapping[str, str | None]) -> None:
    """Changes the given settings; None removes one. The file contains a token: it is replaced atomically, and only
    its owner can read it."""
    kept = {name: value for name, value in {**read_config(path), **change}.items() if value is not None}
    whole = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with os.fdopen(os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            yaml.safe_dump(kept, file)
        whole.replace(path)
    except OSError as error:
        whole.unlink(missing_ok=True)
        raise click.UsageError(f"cannot write {path}: {error.strerror}") from None


COMMANDS = [login, logout, whoami]
