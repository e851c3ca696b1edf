"""What a step knows of each paper, as it is grouped and told: its sentences by element, its words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from assistant.citations import without_labels
from assistant.comparing.extractive.finding import read_sentences
from assistant.comparing.extractive.wording import leans, points_away, told
from assistant.comparing.protocol import SourceText
from assistant.comparing.records import ElementName, KeyElements
from assistant.vocabulary import stem
from corpus.sentences import sentence_spans
from corpus.text import words

# Of a full text, what stands first says what it is about.
OPENING_SENTENCES = 30
FEWEST_WORDS, MOST_WORDS = 5, 50
_DOES: tuple[ElementName, ...] = ("contributions", "methodology", "innovations")
_SAYS_WHAT: tuple[ElementName, ...] = ("contributions", "methodology", "research_questions")


@dataclass(frozen=True, slots=True)
class Account:
    """A paper as it can be told: sentences that may stand in a summary, by element, and what it is about.

    `spare` are sentences for a paper of which no element can be told. `opening` is the title and the first
    sentences; `places` are all sentences of its passages, which carry what is said of it.
    """

    label: int
    title: str
    year: int | None
    sentences: Mapping[ElementName, tuple[str, ...]]
    spare: tuple[str, ...]
    tasks: tuple[str, ...]
    methods: tuple[str, ...]
    opening: str
    places: tuple[str, ...]

    @property
    def about(self) -> tuple[str, ...]:
        """The texts that say what the paper is about: its title, and what it does."""
        found = [self.sentences.get(name, ())[:1] for name in _SAYS_WHAT]
        return (self.title, *(text for texts in found for text in texts))

    @property
    def does(self) -> tuple[str, ...]:
        """All sentences that say what its authors do."""
        return tuple(text for name in _DOES for text in self.sentences.get(name, ()))

    @property
    def stems(self) -> str:
        """The stems of the opening in order, between spaces, so that a phrase can be looked for."""
        return stemmed(self.opening)


@lru_cache(maxsize=8192)
def stemmed(text: str) -> str:
    parts = [stem(part) for word in words(text) for part in word.split("-") if part]
    return f" {' '.join(parts)} "


def read_account(source: SourceText, elements: KeyElements | None) -> Account:
    """Return what can be told of a paper: its elements, or where there are none, of how its text begins."""
    paper = source.paper.paper
    places = tuple(
        passage.sentence_text(index)
        for passage in source.paper.passages
        for index in range(len(passage.sentences))
    )
    opening = _opening(source)
    return Account(
        label=source.label,
        title=" ".join(paper.title.split()),
        year=paper.year,
        sentences=_told_elements(elements) if elements and elements.elements else _told_opening(opening),
        spare=tuple(opening),
        tasks=tuple(topic.name for topic in paper.topics if topic.kind == "task"),
        methods=tuple(topic.name for topic in paper.topics if topic.kind == "method"),
        opening=" ".join((paper.title, *places[:OPENING_SENTENCES])),
        places=places,
    )


def _told_elements(elements: KeyElements) -> dict[ElementName, tuple[str, ...]]:
    return {
        one.name: tuple(text for text in split_sentences(one.text) if _can_be_told(text))
        for one in elements.elements
        if one.text
    }


def _opening(source: SourceText) -> list[str]:
    """Return what can be told of the abstract, or of how the text begins: first what the authors do."""
    sentences = list(islice(read_sentences(source), OPENING_SENTENCES))
    first = [one for one in sentences if one.role == "abstract"] or sentences[:8]
    telling = [(one, told(one.text, source.paper.paper.authors)) for one in first]
    telling = [(one, text) for one, text in telling if _can_be_told(text)]
    own = [(one, text) for one, text in telling if not (one.is_before or one.is_foreign)]
    return [text for _, text in sorted(own or telling, key=lambda entry: not entry[0].is_own)]


def _told_opening(opening: Sequence[str]) -> dict[ElementName, tuple[str, ...]]:
    """Return what stands for the elements where there are none: sentences of the abstract."""
    names: tuple[ElementName, ...] = ("contributions", "results", "conclusions")
    return {name: (text,) for name, text in zip(names, opening, strict=False)}


def _can_be_told(text: str) -> bool:
    is_whole = FEWEST_WORDS <= len(words(text)) <= MOST_WORDS and text[-1:] in '.!”"’)'
    return is_whole and not (leans(text) or points_away(text))


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, without labels in them."""
    bare = without_labels(text)
    return [bare[start:end].strip() for start, end in sentence_spans(bare)]


def in_years(accounts: Sequence[Account]) -> list[Account]:
    """Return papers by year, those without one last, else in the order of comparison."""
    return sorted(accounts, key=lambda one: (one.year is None, one.year or 0, one.label))
