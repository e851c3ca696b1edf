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
# Share of a text's words in sentences copied from our prompts.
ECHO = 0.5
# Runs of three words: in one sentence told three times a third of them are different.
SHORTEST_LOOP, LOOP = 20, 0.34
_AT_A_MARK = re.compile(rf"[{MARKS}]")


def without_echo(text: str) -> tuple[str, DraftProblem | None]:
    """Return the model's own text, "" if there is none, and the fault of the rest.

    From the first of our marks on, the text continues the prompt.
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
    tokens = words(text)
    runs = list(zip(tokens, tokens[1:], tokens[2:], strict=False))
    return len(runs) >= SHORTEST_LOOP and len(set(runs)) <= LOOP * len(runs)


def is_echo(text: str) -> bool:
    """Return True if most of a text is copied from our prompts word for word."""
    sentences = [words(text[start:end]) for start, end in sentence_spans(text)]
    echoed = sum(
        len(sentence)
        for sentence in sentences
        if len(sentence) >= SHORTEST_ECHO and _line(sentence) in _prompts()
    )
    return echoed > ECHO * sum(map(len, sentences))


def tells_example(text: str, given: Iterable[str]) -> bool:
    """Return True if a text has subjects of our examples that none of the texts `given` to its writer has.

    Small models continue an example in words of their own.
    """
    subjects = frozenset(map(stem, example_subjects())) & _stems(text)
    return bool(subjects) and subjects.isdisjoint(_stems("\n".join(given)))


def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, words(text)))


def _line(tokens: list[str]) -> str:
    return f" {' '.join(tokens)} "


@cache
def _prompts() -> str:
    """Return the words of all prompts, joined."""
    files = sorted(path for path in FOLDER.iterdir() if path.suffix in (".md", ".toml"))
    return _line(words("\n".join(path.read_text(encoding="utf-8") for path in files)))
