"""A small corpus of papers to compare, and what compares them through a stand-in server."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from assistant.comparing.compare import Comparer
from assistant.comparing.ledger import CallLedger
from assistant.comparing.prompted.generator import PromptedComparer
from assistant.comparing.records import (
    Compared,
    Comparison,
    ComparisonEvent,
    ComparisonOptions,
    ComparisonRequest,
)
from assistant.models.together import Patience, TogetherModel
from corpus.encoders.base import Encoder
from corpus.records import Paper
from corpus.store.corpus import Corpus
from corpus.store.element_cache import ElementStore
from tests.small_corpus import make_paper, write_corpus
from tests.standin_chat import StandinChat

ABOUT = "We want retrieval that helps readers check what a model wrote."
_TEXTS = (
    "We study dense retrieval with a small encoder. It finds 71 percent of the answers.",
    "This paper ranks passages by their words. It is quick, but it misses paraphrases.",
    "We join word search and dense search in one ranking. The fusion is better than both.",
    "We let a model write answers with citations. Half of the citations do not hold.",
    "This work scores how well a sentence is carried by its source. Scores agree with readers.",
    "We ask when a system should refuse. Refusing by words alone rejects one in ten good questions.",
    "A tree of drafts is grown and pruned by votes. The spread between runs becomes narrow.",
    "We segment papers into passages of two hundred words. Longer ones lose precision.",
    "This paper measures the cost of encoding sentences one by one. It doubles the tokens.",
    "We read tables out of papers. Only simple tables come out whole.",
)


def papers_to_compare(count: int = len(_TEXTS)) -> dict[Paper, list[str]]:
    """Return papers with their abstracts, the later ones newer."""
    return {
        replace(
            make_paper(
                "shelf", f"p{place}", year=2010 + place, position=place, title=f"Paper number {place}"
            ),
            abstract=text,
            fingerprint=f"f{place}",
        ): [text]
        for place, text in enumerate(_TEXTS[:count], start=1)
    }


def open_compared_corpus(path: Path, encoder: Encoder) -> Corpus:
    write_corpus(path, encoder, papers_to_compare())
    return Corpus.open(path, encoder)


def request_for(count: int, about: str = ABOUT, **options: object) -> ComparisonRequest:
    """Return a request to compare the first papers; `options` are those of ComparisonOptions."""
    ids = tuple(f"shelf/p{place}" for place in range(1, count + 1))
    return ComparisonRequest(ids, about, ComparisonOptions(**options))  # type: ignore[arg-type]


@contextmanager
def comparer_over(
    server: StandinChat, corpus: Corpus, encoder: Encoder, kept: ElementStore | None = None, **changes: object
) -> Iterator[Comparer]:
    """Open a comparer with the model behind a server."""
    model = TogetherModel(
        "m",
        "Model",
        api_key="k",
        base_url=server.url,
        patience=Patience(5.0, 5.0),
        first_wait=0.01,
        structured=bool(changes.pop("structured", True)),
    )
    try:
        yield Comparer(corpus, encoder, PromptedComparer(model, **changes), kept)  # type: ignore[arg-type]
    finally:
        model.close()


def all_events(
    comparer: Comparer, request: ComparisonRequest, ledger: CallLedger | None = None
) -> list[ComparisonEvent]:
    return list(comparer.compare(request, ledger))


def compared(comparer: Comparer, request: ComparisonRequest, ledger: CallLedger | None = None) -> Comparison:
    last = all_events(comparer, request, ledger)[-1]
    assert isinstance(last, Compared)
    return last.comparison
