"""What the app is measured on: a home with a corpus, an answered conversation, and the pages looked at."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from assistant.chat import Assistant
from assistant.generators import ExtractiveGenerator
from assistant.records import Answered, AskOptions, Conversation, Turn
from assistant.storage import ConversationStore
from corpus.encoder_choice import open_encoder
from corpus.encoders import Encoder
from corpus.records import Scope
from corpus.settings import Settings
from corpus.store import Corpus
from evaluation.bench.app_load import Page
from evaluation.bench.build import VOLUMES, volumes
from evaluation.input_files import EvaluationError
from indexer.build import build_collections
from indexer.sources.demo import demo_volumes

QUESTIONS = (
    "How do dense retrieval and BM25 compare, and where does each of them fail?",
    "When is reciprocal rank fusion a better choice than a weighted sum of scores?",
    "How are citation recall and citation precision defined?",
)
PAPERS_LOOKED_AT = 6


@dataclass(frozen=True, slots=True)
class Workplace:
    """A home with what stands in it; `conversation` is the id of one with answers that cite."""

    home: Path
    database: Path
    papers: int
    conversation: str
    pages: tuple[Page, ...]


@contextmanager
def workplace(home: Path | None, anthology: Path | None) -> Iterator[Workplace]:
    """Prepare a home, or one of the demonstration and, with its data, volumes of the Anthology.

    Nothing is written into a home that is given.
    """
    with TemporaryDirectory() as folder:
        settings = Settings(home=home or Path(folder, "home"))
        encoder = open_encoder(settings)
        if home is None:
            build_collections(
                settings,
                encoder,
                [*demo_volumes(), *(volumes(anthology, VOLUMES) if anthology else ())],
                lambda _: None,
            )
        corpus = Corpus.open(settings.corpus_path, encoder)
        database = Path(folder, "conversations.sqlite")
        conversation = _answered(corpus, encoder, database)
        papers = corpus.count_papers(Scope())
        yield Workplace(settings.home, database, papers, conversation, _pages(corpus, conversation))


def _answered(corpus: Corpus, encoder: Encoder, database: Path) -> str:
    """Store a conversation with answers; return its id."""
    assistant = Assistant(corpus, encoder, ExtractiveGenerator(encoder))
    turns: tuple[Turn, ...] = ()
    for question in QUESTIONS:
        events = assistant.ask(question, turns, AskOptions())
        turns += tuple(event.turn for event in events if isinstance(event, Answered))
    if not any(sentence.citations for turn in turns for sentence in turn.answer.sentences):
        raise EvaluationError(
            f"The corpus at {corpus.path} answers none of the questions. Index more papers."
        )
    store = ConversationStore(database)
    try:
        conversation = Conversation("measured", "Measured", turns)
        return store.put("nobody", conversation, from_file=False).id
    finally:
        store.close()


def _pages(corpus: Corpus, conversation: str) -> tuple[Page, ...]:
    """Return the pages: lists and papers change from look to look, as readers go through them."""
    collections = corpus.collections()
    papers = [
        paper
        for one in (collections[0], collections[-1])
        for paper in corpus.papers(Scope(collections=(one.collection.id,)), limit=PAPERS_LOOKED_AT // 2)
    ]
    lists = ["", *(urlencode({"collection": one.collection.id}) for one in collections[:2])]
    lists += [urlencode({"topic": key}) for key in list(corpus.statistics.topic_counts())[:2]]
    return (
        Page("collection", tuple(lists), "Search titles"),
        Page("paper", tuple(urlencode({"id": paper.id}) for paper in papers), "Abstract"),
        # The question as far as it has no signs, which are written for Markdown.
        Page("ask", (urlencode({"conversation": conversation}),), QUESTIONS[0].partition(",")[0]),
        Page("compare", ("",), "ompar"),
        Page("about", ("",), "What the corpus holds"),
    )
