"""A command line that was given as one word, as in `batch run "python work.py data.csv"`."""

from __future__ import annotations

import re

_PART = re.compile(r"""(?P<plain>[^\s'"\\|&;<>()`]+)|\\(?P<escaped>[^\n])|'(?P<single>[^']*)'|"(?P<double>(?:[^"\\]|\\.)*)\"""", re.DOTALL)


def split_words(text: str) -> list[str] | None:
    """Its words, as a shell splits them: quotes and backslashes are taken off. None for what only a shell can run (a pipe, a
    redirection, several commands, a quote without its end), and for a single word."""
    words = words_of_line(text)
    return None if words is None or len(words) < 2 else words


def words_of_line(text: str) -> list[str] | None:
    """The same, also for a single word and for none."""
    words: list[str] = []
    rest = text.strip()
    while rest:
        word = ""
        while True:
            part = _PART.match(rest)
            if part is None:
                return None
            double = part["double"]
            word += part["plain"] or part["escaped"] or part["single"] or re.sub(r'\\(["\\$`])', r"\1", double or "")
            rest = rest[part.end() :]
            if not rest or rest[0].isspace():
                break
        words.append(word)
        # A line break ends a command.
        if re.match(r"[^\S\n]*\n", rest):
            return None
        rest = rest.lstrip()
    return words
