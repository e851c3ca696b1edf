"""Echoes in a model's output: our prompts, their marks, or one sentence over and over."""

import re
from collections.abc import Iterable
from functools import cache

from assistant.prompts.render import FOLDER, MARKS, example_subjects
from assistant.records import DraftProblem
from corpus.language.stemming import stem
from corpus.sentences import sentence_spans
from corpus.text import words

# Words; what is shorter may stand in a prompt by chance.
SHORTEST_ECHO = 6
# Of a text so large a share is in sentences of our prompts.
ECHO = 0.5
# Runs of three words: in one sentence told three times a third of them are different.
SHORTEST_LOOP, LOOP = 20, 0.34
_AT_A_MARK = re.compile(rf"[{MARKS}]")


def without_echo(text: str) -> tuple[str, DraftProblem | None]:
    """Return the model's own text, "" if there is none, and the fault of the rest.

    From the first mark of ours on it is a prompt that is gone on with.
    """
    written = _AT_A_MARK.split(text, maxsplit=1)[0].rstrip()
    if written != text:
        return (written, "echo") if words(written) and not is_repeated(written) else ("", "echo")
    if is_looped(text):
        return "", "looped"
    return ("", "echo") if is_echo(text) else (text, None)


def is_repeated(text: str) -> bool:
    """Return True if a text is our own prompt, or says one thing over and over."""
    return _AT_A_MARK.search(text) is not None or is_looped(text) or is_echo(text)


def is_looped(text: str) -> bool:
    """Return True if a text says one thing over and over."""
    told = words(text)
    runs = list(zip(told, told[1:], told[2:], strict=False))
    return len(runs) >= SHORTEST_LOOP and len(set(runs)) <= LOOP * len(runs)


def is_echo(text: str) -> bool:
    """Return True if most of a text stands in our prompts word for word."""
    sentences = [words(text[start:end]) for start, end in sentence_spans(text)]
    echoed = sum(len(one) for one in sentences if len(one) >= SHORTEST_ECHO and _line(one) in _prompts())
    return echoed > ECHO * sum(map(len, sentences))


def tells_example(text: str, given: Iterable[str]) -> bool:
    """Return True if a text speaks of what our examples speak of, and its writer was `given` nothing of it.

    Small models go on with an example in words of their own.
    """
    told = _example_stems() & _stems(text)
    return bool(told) and told.isdisjoint(_stems("\n".join(given)))


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text)))


@cache
def _example_stems() -> frozenset[str]:
    return frozenset(map(stem, example_subjects()))


def _line(told: list[str]) -> str:
    return f" {' '.join(told)} "


@cache
def _prompts() -> str:
    """Return the words of all prompts, one after the other."""
    files = sorted(path for path in FOLDER.iterdir() if path.suffix in (".md", ".toml"))
    return _line(words("\n".join(path.read_text(encoding="utf-8") for path in files)))
