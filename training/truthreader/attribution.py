"""Citations of sentences by overlap, or by a model as in TruthReader (section 4.2.1, Algorithm 1)."""

from collections.abc import Callable, Iterable, Sequence
from typing import Literal

from assistant.checking.overlap import score_attribution
from assistant.records import Evidence
from corpus.records import Passage
from training.truthreader.examples import Attribution, CitedSentence

CARRIED = 0.5  # least ROUGE-1 precision of a sentence against the passages that it cites
GAIN = 0.15  # least gain by a further citation
MOST_LABELS = 3

AttributionMethod = Literal["model", "score"]


def cite_by_score(
    sentences: Iterable[str], evidence: Evidence, shown: Sequence[Passage]
) -> tuple[CitedSentence, ...]:
    """Return sentences with the labels of the papers that share most words with them.

    The paper asks a model instead. Further papers are cited as long as they add to the score; passages that
    the answer was written from are preferred.
    """
    sources = {passage.id for passage in shown}
    given = [
        (paper.label, f"{paper.paper.title}. {passage.text}", passage.id in sources)
        for paper in evidence.papers
        for passage in paper.passages
    ]

    def labels(sentence: str) -> tuple[int, ...]:
        chosen: list[tuple[int, str, bool]] = []
        score = 0.0
        while len(chosen) < MOST_LABELS and (rest := [source for source in given if source not in chosen]):
            together = ("\n".join(text for _, text, _ in (*chosen, source)) for source in rest)
            gains = [score_attribution(sentence, text) - score for text in together]
            best = max(range(len(rest)), key=lambda place: gains[place] + GAIN * rest[place][2])
            if chosen and gains[best] < GAIN:
                break
            chosen.append(rest[best])
            score += gains[best]
        return tuple(sorted({label for label, _, _ in chosen})) if score >= CARRIED else ()

    return tuple(CitedSentence(sentence, labels(sentence)) for sentence in sentences)


def cite_by_model(attribute: Callable[[str, Evidence], tuple[int, ...]]) -> Attribution:
    """Return an attribution that asks `attribute` for the labels of each sentence, as the paper does."""

    def cite(
        sentences: Iterable[str], evidence: Evidence, _shown: Sequence[Passage]
    ) -> tuple[CitedSentence, ...]:
        return tuple(CitedSentence(sentence, attribute(sentence, evidence)) for sentence in sentences)

    return cite
