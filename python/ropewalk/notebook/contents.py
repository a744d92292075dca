"""The files of a cluster's Jupyter server, through its contents API and the relay, reached like a browser by a link
that signs in."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from ropewalk.errors import RopewalkError
from ropewalk.notebook.decide import MAX_FILE_BYTES
from ropewalk.notebook.local import MAX_FILES, ChangedMeanwhile
from ropewalk.notebook.names import is_plain, is_synced

#: The relay gives a request 30 s until the answer begins, so a slow connection needs small pieces.
PIECE_BYTES = 1024 * 1024
_TIMEOUT_S = 40.0
_MAX_LISTING_BYTES = 8 * 1024 * 1024
#: Base64 and its JSON envelope.
_MAX_FILE_ANSWER_BYTES = MAX_FILE_BYTES * 2
_MAX_DEPTH = 20
_MAX_DIRECTORIES = 1_000
#: Prevents Jupyter from counting it as a user's activity, which would keep the cluster from being idle.
_QUIET = "no_track_activity=1"


class Unavailable(Exception):
    """Jupyter does not answer now; a later round may succeed."""


@dataclass
class Listing:
    """Versions and sizes by path. `refused`: names that no file here may have."""

    versions: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)


class JupyterFiles:
    """`link` returns a new link from the API."""

    def __init__(self, link: Callable[[], str], ignored: Sequence[str] = ()) -> None:
        self._link = link
        self._ignored = ignored
        self._origin = self._root = self._cookie = ""
        self._opener = build_opener(_NoRedirects(), HTTPSHandler(context=ssl.create_default_context()))

    def listing(self) -> Listing:
        """All files. Fails as a whole, because an unlisted directory must not look empty."""
        found, left = Listing(), [("", 0)]
        for directories in range(_MAX_DIRECTORIES + 1):
            if not left:
                return found
            above, depth = left.pop()
            for entry in self._entries(above):
                self._note(entry, above, depth, found, left)
            if directories == _MAX_DIRECTORIES or len(found.versions) > MAX_FILES:
                break
        raise RopewalkError(
            f"The server has more than {MAX_FILES} files or {_MAX_DIRECTORIES} directories.",
            code="SYNC_FAILED",
            hint="Remove some there, or make the names of directories of data hidden: .data is not synced.",
        )

    def _note(self, entry: Any, above: str, depth: int, found: Listing, left: list[tuple[str, int]]) -> None:
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not is_plain(name):
            found.refused.add(repr(name)[:100])
        elif is_synced(name, self._ignored):
            if entry.get("type") != "directory":
                size = entry.get("size")
                found.versions[above + name] = _version(entry)
                found.sizes[above + name] = size if isinstance(size, int) else 0
            elif depth < _MAX_DEPTH:
                left.append((f"{above}{name}/", depth + 1))

    def _entries(self, directory: str) -> list[Any]:
        query = f"type=directory&content=1&{_QUIET}"
        try:
            model = self._ask("GET", directory, query, most=_MAX_LISTING_BYTES)
        except FileNotFoundError:
            if directory == "":
                raise Unavailable("Jupyter has no directory of notebooks") from None
            # Removed since its parent was listed.
            raise ChangedMeanwhile(directory) from None
        content = model.get("content")
        if not isinstance(content, list):
            raise Unavailable("the answer is no list of files")
        return content

    def version(self, path: str) -> str | None:
        try:
            return _version(self._ask("GET", path, f"type=file&content=0&{_QUIET}"))
        except FileNotFoundError:
            return None

    def read(self, path: str) -> tuple[bytes, str]:
        """Returns content and version. Raises ChangedMeanwhile."""
        query = f"type=file&format=base64&content=1&{_QUIET}"
        try:
            model = self._ask("GET", path, query, most=_MAX_FILE_ANSWER_BYTES)
            content = base64.b64decode(model["content"], validate=False)
        except FileNotFoundError:
            raise ChangedMeanwhile(path) from None
        except (KeyError, TypeError, ValueError):
            raise Unavailable(f"the answer has no content of {path}") from None
        if len(content) > MAX_FILE_BYTES or len(content) != model.get("size"):
            raise ChangedMeanwhile(path)
        return content, _version(model)

    def write(self, path: str, content: bytes, expected: str | None) -> str:
        """Returns the version. Raises ChangedMeanwhile unless the server had the expected version before."""
        if self.version(path) != expected:
            raise ChangedMeanwhile(path)
        self._make_directories(path)
        model: dict[str, Any] = {}
        pieces = [content[at : at + PIECE_BYTES] for at in range(0, len(content), PIECE_BYTES)] or [b""]
        for count, piece in enumerate(pieces, 1):
            body: dict[str, Any] = {"type": "file", "format": "base64", "content": base64.b64encode(piece).decode()}
            if len(pieces) > 1:
                body["chunk"] = -1 if count == len(pieces) else count
            # A piece whose answer was lost is not repeated, which could append it twice: the next round sends the
            # file again.
            model = self._ask("PUT", path, body=body)
        if model.get("size") != len(content):
            raise ChangedMeanwhile(path)
        return _version(model)

    def remove(self, path: str, expected: str) -> None:
        if self.version(path) != expected:
            raise ChangedMeanwhile(path)
        try:
            self._ask("DELETE", path)
        except FileNotFoundError:
            return

    def _make_directories(self, path: str) -> None:
        parts = path.split("/")[:-1]
        for count in range(1, len(parts) + 1):
            directory = "/".join(parts[:count])
            try:
                self._ask("GET", directory, f"type=directory&content=0&{_QUIET}")
            except FileNotFoundError:
                self._ask("PUT", directory, body={"type": "directory"})

    def _ask(self, method: str, path: str, query: str = "", *, body: Any = None, most: int = _MAX_LISTING_BYTES) -> Any:
        """Raises FileNotFoundError, Unavailable, or RopewalkError for a refusal by Jupyter."""
        if not self._cookie:
            self._sign_in()
        place = f"{self._root}api/contents/{quote(path.strip('/'))}"
        if query:
            place = f"{place}?{query}"
        status, kind, answer = self._once(method, place, body, most)
        if status == 401:
            # Sessions last eight hours.
            self._sign_in()
            status, kind, answer = self._once(method, place, body, most)
        # The relay and proxies answer with HTML pages, which do not concern the file.
        if status != 204 and not kind.startswith("application/json"):
            raise Unavailable(f"Jupyter does not answer (HTTP status {status})")
        if status == 404:
            raise FileNotFoundError(path)
        if status >= 500:
            raise Unavailable(f"Jupyter failed (HTTP status {status}{_said(answer)})")
        if status >= 300:
            message = f"Jupyter refused {method} of {path} (HTTP status {status}{_said(answer)})."
            raise RopewalkError(message, code="SYNC_FAILED", status=status)
        try:
            value = json.loads(answer) if answer else {}
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise Unavailable("Jupyter's answer is no model of a file")
        return value

    def _sign_in(self) -> None:
        url = self._link()
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise RopewalkError("The API's link to Jupyter is no URL.", code="NOT_ROPEWALK")
        self._origin, self._root = f"{parts.scheme}://{parts.netloc}", parts.path
        opener = self._opener_of(parts.hostname)
        try:
            with opener.open(Request(url), timeout=_TIMEOUT_S) as response:
                cookies = response.headers.get_all("Set-Cookie") or []
        except HTTPError as error:
            with error:
                raise Unavailable(f"the link to Jupyter was refused (HTTP status {error.code})") from None
        except (URLError, http.client.HTTPException, OSError) as error:
            raise _unreachable(self._origin, error) from None
        cookie = next((one.partition(";")[0] for one in cookies if one.startswith("ropewalk_jupyter=")), None)
        if cookie is None:
            raise Unavailable("the link to Jupyter gave no session")
        self._cookie, self._opener = cookie, opener

    def _opener_of(self, host: str) -> Any:
        proxies = ProxyHandler({}) if host in ("127.0.0.1", "localhost", "::1") else ProxyHandler()
        return build_opener(proxies, _NoRedirects(), HTTPSHandler(context=ssl.create_default_context()))

    def _once(self, method: str, place: str, body: Any, most: int) -> tuple[int, str, bytes]:
        headers = {"Cookie": self._cookie, "Origin": self._origin, "Accept": "application/json"}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = Request(self._origin + place, data=data, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=_TIMEOUT_S) as response:
                answer: bytes = response.read(most + 1)
                if len(answer) > most:
                    raise RopewalkError(f"Jupyter's answer has more than {most // 1024**2} MiB.", code="SYNC_FAILED")
                return response.status, response.headers.get_content_type(), answer
        except HTTPError as error:
            with error:
                return error.code, error.headers.get_content_type(), error.read(64 * 1024)
        except (URLError, http.client.HTTPException, OSError) as error:
            raise _unreachable(self._origin, error) from None


class _NoRedirects(HTTPRedirectHandler):
    """Never sends the session's cookie elsewhere."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _version(model: Any) -> str:
    return f"{model.get('last_modified')} {model.get('size')}"


def _said(answer: bytes) -> str:
    """Jupyter answers with JSON, or with text labelled as JSON."""
    text = answer.decode("utf-8", "replace")
    try:
        message = json.loads(text).get("message")
    except (ValueError, AttributeError, RecursionError):
        message = text
    return f": {message[:300]}" if isinstance(message, str) and message else ""


def _unreachable(origin: str, error: Exception) -> Unavailable:
    return Unavailable(f"{origin} does not answer: {getattr(error, 'reason', None) or error}")
