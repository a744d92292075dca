"""A git repository that another user has created."""

from __future__ import annotations

import subprocess
from pathlib import Path


def incomplete_repository(root: Path) -> Path:
    """Its .gitignore is a missing object, which git would run a program to fetch. Returns the file that this program creates."""
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
