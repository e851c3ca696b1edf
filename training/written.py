"""Questions written for abstracts, asked of a corpus of all these abstracts as the product asks them."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from assistant.chat import Assistant
from corpus.encoder_choice import open_encoder
from corpus.records import Collection, Paper, paper_id
from corpus.settings import read_settings
from evaluation.answers.asking import open_assistant
from evaluation.answers.evidence.sets import WrittenPaper, written_questions
from evaluation.judged import JudgedQuestion
from indexer.build import build_collection
from indexer.sources import SourcePaper
from training.files import FOLDS, FREE_SINCE, hash_byte

CORPUS = "written"
_COLLECTION = Collection(id=CORPUS, title="Abstracts", source="")


@dataclass(frozen=True, slots=True)
class WrittenAbstracts:
    """Abstracts as a source that the indexer can build."""

    abstracts: tuple[WrittenPaper, ...]

    @property
    def collection(self) -> Collection:
        return _COLLECTION

    def __len__(self) -> int:
        return len(self.abstracts)

    def papers(self) -> Iterator[SourcePaper]:
        for position, abstract in enumerate(self.abstracts):
            text = " ".join(abstract.sentences)
            yield SourcePaper(
                abstract.paper,
                Paper(
                    *(paper_id(CORPUS, abstract.paper), CORPUS, abstract.title, (), abstract.year, "", text),
                    source=_COLLECTION.source,
                    position=position,
                ),
            )


def written_judgements(data: Path, home: Path, held: int) -> Iterator[tuple[JudgedQuestion, Assistant]]:
    """Yield the questions on the abstracts of a fold, with the assistant of a corpus of all abstracts.

    No places are judged, only whether a question can be answered. The corpus is built in `home`. Raises
    EvaluationError and CorpusError.
    """
    asked = list(written_questions(data))
    abstracts = tuple({abstract.paper: abstract for _, abstract in asked}.values())
    settings = read_settings().model_copy(update={"home": home})
    build_collection(settings, open_encoder(settings), WrittenAbstracts(abstracts), lambda _: None)
    assistant = open_assistant(home)
    for number, (question, abstract) in enumerate(asked):
        if abstract.year >= FREE_SINCE and hash_byte(abstract.paper) % FOLDS == held:
            yield (
                JudgedQuestion(
                    id=f"{abstract.paper}#{number}",
                    question=question.standalone,
                    corpus=CORPUS,
                    kind=question.kind,
                    answerable=bool(question.answers),
                    full=(),
                    part=(),
                    leaning=(),
                    seen=(),
                ),
                assistant,
            )
