"""A session of AWS STS from the AWS credentials of this machine, by botocore where it is installed. No message
contains a key."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from ropewalk.errors import RopewalkError

#: Limits of GetSessionToken.
MIN_DURATION_S, MAX_DURATION_S = 900, 129_600
#: botocore and the other AWS SDKs read it: a process whose variables are refreshed in time never sees it expire.
_EXPIRATION = "AWS_CREDENTIAL_EXPIRATION"
VARIABLES = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", _EXPIRATION)


@dataclass(frozen=True)
class AwsSession:
    access_key: str = field(repr=False)
    secret_key: str = field(repr=False)
    token: str = field(repr=False)
    #: None when botocore does not know it.
    expires_at: datetime | None

    def variables(self) -> dict[str, str | None]:
        """The environment variables of the session; None for a variable that must be absent."""
        expiration = None if self.expires_at is None else self.expires_at.strftime("%Y-%m-%dT%H:%M:%SZ")
        return dict(zip(VARIABLES, (self.access_key, self.secret_key, self.token, expiration), strict=True))


class AwsSessions:
    """Creates sessions from the credentials that botocore finds: environment, profile, SSO, a process, or the role
    of an instance."""

    def __init__(self, duration_s: int | None = None) -> None:
        self._duration_s = duration_s
        self._session: Any = None

    def read(self) -> AwsSession | None:
        """Blocks. None without botocore or without credentials. Raises RopewalkError AWS_CREDENTIALS."""
        if importlib.util.find_spec("botocore") is None:
            return None
        import botocore.exceptions
        import botocore.session

        kept, self._session = self._session, None
        session = kept or botocore.session.Session()
        secrets: list[str] = []
        try:
            found = session.get_credentials()
            if found is None:
                return None
            frozen = found.get_frozen_credentials()
            secrets = [text for text in (frozen.secret_key, frozen.token, frozen.access_key) if text]
            if hasattr(found, "refresh_needed"):
                # Kept, because it refreshes itself; a new session might ask for a second factor again.
                self._session = session
            if frozen.token:
                # STS creates no session from a session.
                return AwsSession(frozen.access_key, frozen.secret_key, frozen.token, _expiry_of(found))
            return self._from_sts(session)
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
            raise _unusable(error, secrets) from None

    def _from_sts(self, session: Any) -> AwsSession:
        from botocore.config import Config

        sts = session.create_client(
            "sts",
            region_name=session.get_config_variable("region") or "us-east-1",
            config=Config(connect_timeout=5, read_timeout=10, retries={"total_max_attempts": 3}),
        )
        duration = {} if self._duration_s is None else {"DurationSeconds": self._duration_s}
        made = sts.get_session_token(**duration)["Credentials"]
        return AwsSession(made["AccessKeyId"], made["SecretAccessKey"], made["SessionToken"], made["Expiration"])


def _expiry_of(credentials: Any) -> datetime | None:
    expiry = getattr(credentials, "_expiry_time", None)
    return expiry.astimezone(timezone.utc) if isinstance(expiry, datetime) else None


def _unusable(error: Exception, secrets: list[str]) -> RopewalkError:
    text = str(error)
    for secret in secrets:
        text = text.replace(secret, "***")
    hint = "Sign in to AWS on this machine, or choose another profile with AWS_PROFILE."
    return RopewalkError(f"The AWS credentials of this machine cannot be used: {text}", code="AWS_CREDENTIALS", hint=hint)


def check_duration(seconds: object, name: str) -> int | None:
    """Raises ValueError naming the argument."""
    if seconds is None:
        return None
    if isinstance(seconds, int) and not isinstance(seconds, bool) and MIN_DURATION_S <= seconds <= MAX_DURATION_S:
        return seconds
    raise ValueError(f"{name} is {seconds!r}: give seconds from {MIN_DURATION_S} to {MAX_DURATION_S}, the limits of AWS STS")
