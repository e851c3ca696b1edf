"""Questions to begin with: the demonstration's own where it is there, else about papers that are."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import corpus.demo
from corpus.records import Paper, Scope
from corpus.store import Corpus
from explorer.parts.safe_text import one_line

SHOWN = 4
LONGEST_TITLE = 90


@dataclass(frozen=True, slots=True)
class Example:
    """A question to begin with; an empty `collection` asks all that are chosen."""

    question: str
    collection: str = ""


def example_questions(corpus_in_use: Corpus, held: Sequence[str]) -> tuple[Example, ...]:
    """Return a few questions that the collections `held` can answer."""
    written = [example for example in demonstration_questions() if _is_held(example, held)]
    if written:
        return tuple(written[:SHOWN])
    if not held:
        return ()
    first = corpus_in_use.papers(Scope(collections=tuple(held[:1])), limit=SHOWN * 3)
    return questions_about(first, held[0] if len(held) == 1 else "")


def questions_about(papers: Sequence[Paper], collection: str = "") -> tuple[Example, ...]:
    """Return questions that name a paper, for papers whose titles are short enough to read."""
    short = [paper for paper in papers if len(paper.title) <= LONGEST_TITLE]
    return tuple(
        Example(f"What does “{one_line(paper.title)}” propose?", collection) for paper in short[:SHOWN]
    )


@cache
def demonstration_questions() -> tuple[Example, ...]:
    path = Path(corpus.demo.__file__).parent / "questions.json"
    if not path.is_file():
        return ()
    entries = json.loads(path.read_text(encoding="utf-8"))["examples"]
    return tuple(Example(entry["question"], entry["collection"] or "") for entry in entries)


@cache
def demonstration_collections() -> tuple[str, ...]:
    path = Path(corpus.demo.__file__).parent / "papers.json"
    if not path.is_file():
        return ()
    return tuple(entry["id"] for entry in json.loads(path.read_text(encoding="utf-8"))["collections"])


def _is_held(example: Example, held: Sequence[str]) -> bool:
    needed = (example.collection,) if example.collection else demonstration_collections()
    return bool(needed) and all(one in held for one in needed)
