from __future__ import annotations

from pathlib import Path

import pytest

from ropewalk.config import load_config
from ropewalk.errors import RopewalkError


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config.yaml").write_text("apiUrl: http://file:1\ntoken: file-token\nother: [1]\n")
    return tmp_path


def test_arguments_override_the_environment_and_that_overrides_the_file(home: Path) -> None:
    env = {"ROPEWALK_HOME": str(home)}
    assert vars(load_config(environ=env)) == {"api_url": "http://file:1", "token": "file-token"}
    env |= {"ROPEWALK_API_URL": "http://env:2/", "ROPEWALK_TOKEN": "env-token"}
    assert vars(load_config(environ=env)) == {"api_url": "http://env:2", "token": "env-token"}
    config = load_config("https://argument", "argument-token", environ=env)
    assert vars(config) == {"api_url": "https://argument", "token": "argument-token"}


def test_an_empty_variable_is_unset(home: Path) -> None:
    env = {"ROPEWALK_HOME": str(home), "ROPEWALK_API_URL": "", "ROPEWALK_TOKEN": ""}
    assert load_config(environ=env).token == "file-token"


def test_a_missing_setting_is_named_with_a_hint(tmp_path: Path) -> None:
    env = {"ROPEWALK_HOME": str(tmp_path)}
    with pytest.raises(RopewalkError, match=r"api_url=.*ROPEWALK_API_URL.*config\.yaml"):
        load_config(environ=env)
    with pytest.raises(RopewalkError, match=r"no token for http://x.*ROPEWALK_TOKEN"):
        load_config("http://x", environ=env)


@pytest.mark.parametrize("url", ["127.0.0.1:1", "ftp://x", "http://", "http://x:port", "http://a b"])
def test_an_invalid_url_is_refused(url: str) -> None:
    with pytest.raises(RopewalkError, match="not a URL") as caught:
        load_config(url, "token")
    assert caught.value.field == "api_url"


def test_the_token_is_never_shown(home: Path) -> None:
    assert "secret" not in repr(load_config("http://x", "secret-token"))
    with pytest.raises(RopewalkError) as caught:
        load_config("http://x", "secret-token\nX: y")
    assert "secret" not in str(caught.value)
    (home / "config.yaml").write_text("token: 'secret-token\n  : [")
    with pytest.raises(RopewalkError, match="cannot be read: it is not YAML") as caught:
        load_config(environ={"ROPEWALK_HOME": str(home)})
    assert "secret" not in str(caught.value)
