"""Profiles of compared papers: their sentences by element, and their subjects."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from assistant.checking.citations import without_labels
from assistant.comparing.protocol import SourceText
from assistant.comparing.records import KeyElements
from assistant.reading.finding import read_sentences
from assistant.reading.standing_alone import has_no_antecedent, leans, points_away
from assistant.reading.telling import told
from assistant.records import ElementName
from corpus.records import Paper
from corpus.sentences import sentence_spans
from corpus.text import words

# The first sentences of a full text say what it is about.
OPENING_SENTENCES = 30
FEWEST_WORDS, MOST_WORDS = 5, 50
# Stand-ins for the elements of a paper that has none: the first sentences of its abstract.
_INSTEAD: tuple[ElementName, ...] = ("contributions", "results", "conclusions")


@dataclass(frozen=True, slots=True)
class PaperProfile:
    """A paper as a summary can describe it.

    `sentences` are citable ones by element; `spare` are for a paper without usable elements. `opening` is the
    title and the first sentences; `places` are all sentences of its passages, the evidence for claims on it.
    """

    label: int
    paper: Paper
    sentences: Mapping[ElementName, tuple[str, ...]]
    spare: tuple[str, ...]
    opening: str
    places: tuple[str, ...]

    @property
    def title(self) -> str:
        return " ".join(self.paper.title.split())

    def stated(self, names: Sequence[ElementName]) -> tuple[str, ...]:
        """Return the sentences for the named elements, in their order, each once."""
        return tuple(dict.fromkeys(text for name in names for text in self.sentences.get(name, ())))


def read_profile(source: SourceText, elements: KeyElements | None) -> PaperProfile:
    """Build the profile of a paper from its elements, or from the beginning of its text if it has none."""
    paper = source.paper.paper
    places = tuple(
        passage.sentence_text(index)
        for passage in source.paper.passages
        for index in range(len(passage.sentences))
    )
    spare = _opening(source)
    instead = {name: (text,) for name, text in zip(_INSTEAD, spare, strict=False)}
    return PaperProfile(
        label=source.label,
        paper=paper,
        sentences=_of_elements(elements) if elements and elements.elements else instead,
        spare=spare,
        opening=" ".join((paper.title, *places[:OPENING_SENTENCES])),
        places=places,
    )


def _of_elements(elements: KeyElements) -> dict[ElementName, tuple[str, ...]]:
    return {
        element.name: tuple(text for text in _split(element.text) if can_be_cited(text))
        for element in elements.elements
        if element.text
    }


def _opening(source: SourceText) -> tuple[str, ...]:
    """Return citable sentences of the abstract or the beginning, the authors' own statements first."""
    paper = source.paper.paper
    sentences = list(islice(read_sentences(source.paper), OPENING_SENTENCES))
    first = [sentence for sentence in sentences if sentence.role == "abstract"] or sentences[:8]
    rewritten = [(sentence, told(sentence.text, paper.authors, paper.title)) for sentence in first]
    rewritten = [(sentence, text) for sentence, text in rewritten if can_be_cited(text)]
    preferred = [
        (sentence, text) for sentence, text in rewritten if not (sentence.is_before or sentence.is_foreign)
    ]
    return tuple(text for _, text in sorted(preferred or rewritten, key=lambda entry: not entry[0].is_own))


def can_be_cited(text: str) -> bool:
    """Return True if a sentence can stand alone in a summary."""
    is_whole = FEWEST_WORDS <= len(words(text)) <= MOST_WORDS and text[-1:] in '.!”"’)'
    return is_whole and not (leans(text) or points_away(text) or has_no_antecedent(text))


def _split(text: str) -> list[str]:
    bare = without_labels(text)
    return [bare[start:end].strip() for start, end in sentence_spans(bare)]
