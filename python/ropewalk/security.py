"""TLS credentials of this process for a cluster. The key stays in memory: it is not written to a file."""

from __future__ import annotations

from distributed import Security

from ropewalk.views import Credentials


def make_security(credentials: Credentials) -> Security:
    """From PEM texts: Security treats text with line breaks as content, not as a path."""
    return Security(
        require_encryption=True,
        tls_ca_file=credentials["ca"],
        tls_client_cert=credentials["certificate"],
        tls_client_key=credentials["key"],
    )
