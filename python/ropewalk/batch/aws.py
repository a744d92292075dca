"""AWS credentials of this machine for the tasks of a job."""

from __future__ import annotations

from collections.abc import Mapping

from ropewalk.aws_session import AwsSessions
from ropewalk.credentials import is_own_choice
from ropewalk.errors import RopewalkError


def with_aws_session(env: Mapping[str, str], secret_env: Mapping[str, str]) -> tuple[dict[str, str], str]:
    """The secret variables with those of a session, and a note about its expiry. Raises RopewalkError
    AWS_CREDENTIALS."""
    if is_own_choice(env) or is_own_choice(secret_env):
        raise ValueError("forward_aws_credentials, and the AWS variables of env or secret_env, both give credentials: leave one out")
    session = AwsSessions().read()
    if session is None:
        hint = "Install boto3 and sign in to AWS on this machine."
        raise RopewalkError("This machine has no AWS credentials to forward.", code="AWS_CREDENTIALS", hint=hint)
    until = "these expire" if session.expires_at is None else f"{session.expires_at:%Y-%m-%d %H:%M} UTC"
    variables = {name: value for name, value in session.variables().items() if value is not None}
    return {**secret_env, **variables}, f"The tasks have AWS credentials of this machine until {until}."
