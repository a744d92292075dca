"""A repository of git that another person has made."""

from __future__ import annotations

import subprocess
from pathlib import Path


def incomplete_repository(root: Path) -> Path:
    """Its .gitignore is an object that is not there, and would be fetched by a program. Returns the file that this program makes."""
    ran = root.parent / f"{root.name}-ran"

    def git(*words: str) -> str:
        author = ("-c", "user.name=a", "-c", "user.email=a@example.com")
        run = subprocess.run(["git", *author, "-C", str(root), *words], capture_output=True, check=True, text=True, timeout=60)
        return run.stdout.strip()

    git("init", "--quiet")
    ignore = root / ".gitignore"
    ignore.write_text("left-out\n")
    git("add", ".gitignore")
    git("commit", "--quiet", "--message", "a")
    git("update-index", "--skip-worktree", ".gitignore")
    blob = git("rev-parse", "HEAD:.gitignore")
    ignore.unlink()
    (root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    for name, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "away",
        "remote.away.promisor": "true",
        "remote.away.url": f"ext::sh -c touch% {ran}",
        "protocol.ext.allow": "always",
    }.items():
        git("config", name, value)
    return ran
