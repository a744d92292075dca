"""Names that usually mean keys, credentials and databases: cli/secret-names.ts has the same list."""

from __future__ import annotations

import re

_SECRET = re.compile(r"\.(pem|key|p12|pfx|kdbx|sqlite3?|db)$|^(id_|credentials|secrets?\b)", re.IGNORECASE)


def is_secret_name(name: str) -> bool:
    return not name.endswith(".py") and _SECRET.search(name) is not None
