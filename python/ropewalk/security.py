"""How this process proves to a cluster that it may use it. The key stays in memory: it is written nowhere."""

from __future__ import annotations

from distributed import Security

from ropewalk.views import Credentials


def make_security(credentials: Credentials) -> Security:
    """Each as PEM: Security takes text with line breaks for content, not for a path."""
    return Security(
        require_encryption=True,
        tls_ca_file=credentials["ca"],
        tls_client_cert=credentials["certificate"],
        tls_client_key=credentials["key"],
    )
