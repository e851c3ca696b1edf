"""Operations on a published corpus for programs: a typed request in, a typed result or events out."""

from collections.abc import Iterable, Iterator, Sequence

from assistant.admission import admit
from assistant.chat import Assistant
from assistant.exports.registry import REFERENCE_FORMATS
from assistant.generators.choice import GeneratorChoice
from assistant.records import AssistantError, Event, Turn
from assistant.serving.documents import (
    CitationsDocument,
    CollectionsDocument,
    ReadPaperDocument,
    SearchDocument,
    WriterDocument,
    WritersDocument,
    collection_document,
    found_document,
    paper_document,
    passage_document,
)
from assistant.serving.requests import (
    AskRequest,
    CiteRequest,
    PaperRequest,
    ScopeRequest,
    SearchRequest,
)
from corpus.encoders.base import Encoder
from corpus.records import Paper
from corpus.search.hybrid import search
from corpus.search.query import read_query
from corpus.store.corpus import Corpus
from corpus.text import storable

# In an error; a corpus may have thousands of collections.
MOST_NAMED = 20


class NotFoundError(AssistantError):
    """A request names a record that does not exist."""


def check_writer(choices: Iterable[GeneratorChoice], name: str) -> None:
    """Raise NotFoundError for an unknown writer."""
    if name not in (names := [choice.name for choice in choices]):
        raise NotFoundError(f"There is no writer {name!r}. There are: {', '.join(names[:MOST_NAMED])}.")


def list_collections(corpus: Corpus) -> CollectionsDocument:
    return CollectionsDocument(tuple(map(collection_document, corpus.collections())))


def list_writers(choices: Iterable[GeneratorChoice]) -> WritersDocument:
    return WritersDocument(tuple(WriterDocument(choice.name, choice.label) for choice in choices))


def search_papers(corpus: Corpus, encoder: Encoder, request: SearchRequest) -> SearchDocument:
    """Return the best papers for a query with their best passages."""
    _check_scope(corpus, request.scope)
    query = read_query(corpus, storable(request.query))
    results = search(
        corpus,
        encoder,
        query,
        request.scope.scope(),
        papers=request.papers,
        passages_per_paper=request.passages,
    )
    return SearchDocument(request.query, query.text, tuple(map(found_document, results)))


def read_paper(corpus: Corpus, request: PaperRequest) -> ReadPaperDocument:
    """Return a paper with a page of its passages; raises NotFoundError."""
    (paper,) = _papers(corpus, [request.id])
    passages = corpus.passages(paper.id)
    end = request.first + request.count
    return ReadPaperDocument(
        paper_document(paper),
        request.first,
        len(passages),
        end if end < len(passages) else None,
        tuple(map(passage_document, passages[request.first : end])),
    )


def cite_papers(corpus: Corpus, request: CiteRequest) -> CitationsDocument:
    """Return references to papers without duplicates; raises NotFoundError."""
    papers = _papers(corpus, tuple(dict.fromkeys(request.papers)))
    form = next(known for known in REFERENCE_FORMATS if known.name == request.format)
    text = form.write(papers)
    assert isinstance(text, str), "references are texts"
    return CitationsDocument(request.format, text)


def begin_question(
    assistant: Assistant, request: AskRequest, history: Sequence[Turn] = ()
) -> Iterator[Event]:
    """Return the events of a question; raises AssistantError at once if it cannot be taken."""
    _check_scope(assistant.corpus, request.scope)
    turns, options = tuple(history), request.options()
    admit(request.question, options, assistant.corpus, turns)
    return assistant.ask(request.question, turns, options)


def check_papers(corpus: Corpus, ids: Sequence[str]) -> None:
    """Raise NotFoundError if the corpus lacks one of these papers."""
    _papers(corpus, tuple(dict.fromkeys(ids)))


def _check_scope(corpus: Corpus, scope: ScopeRequest) -> None:
    check_papers(corpus, scope.papers)
    held = corpus.collection_ids()
    if missing := [identifier for identifier in scope.collections if identifier not in held]:
        names = ", ".join(held[:MOST_NAMED]) or "none"
        raise NotFoundError(f"The corpus has no collection {missing[0]!r}. It holds: {names}.")


def _papers(corpus: Corpus, ids: Sequence[str]) -> tuple[Paper, ...]:
    papers = corpus.papers_by_id(ids)
    held = {paper.id for paper in papers}
    if missing := [identifier for identifier in ids if identifier not in held]:
        raise NotFoundError(
            f"The corpus has no paper {missing[0]!r}. Search for it: what is found has its id."
        )
    return papers
