"""The records of the corpus: pure, frozen values without storage, and the ids that name them."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, cast, get_args

PassageKind = Literal["abstract", "body", "caption", "note", "table", "formula"]
AspectName = Literal["challenge", "approach", "outcome"]
TopicKind = Literal["field", "task", "method", "dataset", "metric"]
FEWEST_WORDS, MOST_WORDS = 100, 750
"""The limits of a passage: with fewer words it is hard to find, with more it is no exact place to show."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle on a page: page from 1, PDF points, origin at the top left (GROBID's convention)."""

    page: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence as character offsets into its passage's text, and where it stands on the page.

    The sentences of a passage follow each other without a gap: `text[0:end]`, `text[start:end]`, ...
    joined give the passage's text back, so white space between two sentences belongs to the first.
    `references` are the entries of the paper's bibliography that the sentence cites, counted from 0.
    """

    start: int
    end: int
    boxes: tuple[Box, ...] = ()
    references: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """A section heading: its number as printed ("3.1", "A", or "") and its title."""

    number: str
    title: str

    @property
    def heading(self) -> str:
        return f"{self.number} {self.title}".strip()


@dataclass(frozen=True, slots=True)
class Table:
    """The cells of a table, row by row, all rows of the same length; the first `header` rows name columns."""

    rows: tuple[tuple[str, ...], ...]
    header: int = 0

    def __post_init__(self) -> None:
        if len({len(row) for row in self.rows}) != 1 or not self.rows[0]:
            raise ValueError("the rows of a table have to have equally many cells, and one at least")
        if not 0 <= self.header < len(self.rows):
            raise ValueError(f"a table of {len(self.rows)} rows cannot have {self.header} that name columns")


@dataclass(frozen=True, slots=True)
class PassageSize:
    """The length of passages: about `words`, up to `overlap` of them repeated from the one before."""

    words: int = 200
    overlap: int = 0

    def __post_init__(self) -> None:
        if not FEWEST_WORDS <= self.words <= MOST_WORDS:
            raise ValueError(f"a passage has {FEWEST_WORDS} to {MOST_WORDS} words, not {self.words}")
        if not 0 <= self.overlap <= self.words // 2:
            raise ValueError(f"of {self.words} words at most half can overlap, not {self.overlap}")

    def __str__(self) -> str:
        return f"{self.words} words" + (f", {self.overlap} of them repeated" if self.overlap else "")


USUAL_SIZE = PassageSize()


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit of retrieval: some words of one section (see PassageSize), with its sentences.

    `number` counts from 0 within the paper; number 0 is the abstract (or, without one, the title).
    `section` is the path of headings from the outermost to the passage's own.

    A passage of the kind "table" has the cells in `table`: its last sentences are the rows below the header,
    in order, and those before them the caption. `area` is the place on the page of the passage's table,
    figure or formula, if known.
    """

    id: str
    paper_id: str
    collection_id: str
    number: int
    kind: PassageKind
    section: tuple[Section, ...]
    text: str
    sentences: tuple[Sentence, ...]
    page: int | None = None
    table: Table | None = None
    area: Box | None = None

    def __post_init__(self) -> None:
        if self.first_row < 0:
            raise ValueError(f"{self.id} has a table with more rows than sentences")

    def sentence_text(self, index: int) -> str:
        """Return sentence `index` without the white space round it."""
        sentence = self.sentences[index]
        return self.text[sentence.start : sentence.end].strip()

    @property
    def section_path(self) -> str:
        return " > ".join(section.heading for section in self.section)

    @property
    def first_row(self) -> int:
        """The index of the sentence of the table's first row; without a table, the number of sentences."""
        rows = len(self.table.rows) - self.table.header if self.table else 0
        return len(self.sentences) - rows

    @property
    def caption(self) -> str:
        """The text before the rows of a table; the whole text of a passage without one."""
        return " ".join(self.sentence_text(index) for index in range(self.first_row))


@dataclass(frozen=True, slots=True)
class Author:
    """A person or a group; `given` is empty for groups and mononyms.

    `family` includes the particle ("van der Gogh"), `given` the suffix of the whole name: "Pim Q., Jr.".
    """

    given: str
    family: str
    affiliations: tuple[str, ...] = ()

    @classmethod
    def from_parts(cls, given: str, family: str, particle: str = "", suffix: str = "") -> "Author":
        """Return the author whose name has these parts; `suffix` is "Jr.", "III" and the like."""
        given, suffix, whole = given.strip(), suffix.strip(), f"{particle} {family}".strip()
        if not given:
            return cls("", f"{whole} {suffix}".strip())
        return cls(f"{given}, {suffix}" if suffix else given, whole)

    @property
    def first_names(self) -> str:
        return self.given.partition(",")[0].strip()

    @property
    def suffix(self) -> str:
        """The words behind the whole name: "Jr.", "III"; mostly ""."""
        return self.given.partition(",")[2].strip()

    @property
    def name(self) -> str:
        if self.family and self.suffix:
            return f"{self.first_names} {self.family} {self.suffix}".strip()
        return f"{self.given} {self.family}".strip()


@dataclass(frozen=True, slots=True)
class Reference:
    """An entry of a bibliography; `text` is the entry as printed, the rest is what was recognised."""

    text: str
    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    arxiv_id: str = ""


@dataclass(frozen=True, slots=True)
class Aspect:
    """One sentence that states a paper's challenge, approach or outcome, and the sentence it is based on.

    `passage` and `sentence` count from 0 within the paper and the passage. `writer` is the model that wrote
    `text`, "" if the paper's own sentence is shown; `overlap` is the ROUGE-1 precision of `text` against that
    sentence, 0..1.
    """

    name: AspectName
    text: str
    passage: int
    sentence: int
    writer: str = ""
    overlap: float = 1.0


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of a paper: a field of study, or a task, method, data set or metric it names.

    `score` is its strength, 0..1; scores of different kinds are not comparable.
    """

    kind: TopicKind
    name: str
    score: float

    @property
    def key(self) -> str:
        return topic_key(self.kind, self.name)


@dataclass(frozen=True, slots=True)
class Link:
    """Entry `reference` (from 0) of the paper `citing` is the paper `cited` of the same corpus."""

    citing: str
    reference: int
    cited: str


LONGEST_FIELD: Mapping[str, int] = MappingProxyType(
    {"title": 2_000, "venue": 2_000, "abstract": 20_000, "keywords": 300, "given": 300, "family": 300}
)
"""The most characters of a field of a paper's description, or of one item in it.

Anybody's files can be read here, and the time to process a text grows faster than its length.
"""


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper's metadata and where it came from; its text is in its passages.

    `position` is its place in its collection; `fingerprint` hashes everything the paper was made from, so
    that a rebuild recognises unchanged papers; `pdf_sha256` names the PDF kept beside the corpus, if any.
    `language` is an ISO 639-1 code, "" if unknown. `scanned_pages` counts pages read from their pictures,
    with a `scan_confidence` of 0..1. `labels` and `notes` are its owner's. `hidden_text` counts characters
    in the file that no reader sees, on the `hidden_pages`; no passage holds them.
    """

    id: str
    collection_id: str
    title: str
    authors: tuple[Author, ...]
    year: int | None
    venue: str
    abstract: str
    pages: str = ""
    url: str = ""
    pdf_url: str = ""
    doi: str = ""
    arxiv_id: str = ""
    bibtex: str = ""
    keywords: tuple[str, ...] = ()
    source: str = ""
    parser: str = ""
    parser_version: str = ""
    pdf_sha256: str = ""
    page_count: int = 0
    full_text: bool = False
    language: str = ""
    scanned_pages: int = 0
    scan_confidence: float = 0.0
    labels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    position: int = 0
    fingerprint: str = ""
    aspects: tuple[Aspect, ...] = ()
    topics: tuple[Topic, ...] = ()
    hidden_text: int = 0
    hidden_pages: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of papers: a volume, a query, a folder."""

    id: str
    title: str
    description: str = ""
    source: str = ""
    year: int | None = None
    licence: str = ""


@dataclass(frozen=True, slots=True)
class CollectionSummary:
    """A collection with its counts; `built` is the start of its last build, ISO 8601 in UTC."""

    collection: Collection
    papers: int
    passages: int
    full_texts: int
    failed: int
    first_year: int | None
    last_year: int | None
    built: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """Papers near each other on the map, `papers` in number; `label` has terms that distinguish them."""

    number: int
    label: str
    papers: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A paper that could not be read, by the name its source gives it, and why."""

    item: str
    reason: str


@dataclass(frozen=True, slots=True)
class Remark:
    """A parser's remark on a paper that was built, by the name its source gives it."""

    item: str
    text: str


@dataclass(frozen=True, slots=True)
class ParserCount:
    """The number of papers that a parser read in a build; the parser "" means metadata only."""

    parser: str
    papers: int


@dataclass(frozen=True, slots=True)
class Build:
    """One run of the indexer over one collection; times are ISO 8601 in UTC, seconds are wall-clock.

    `started` is the start of the whole run, which may build several collections; `passages` counts those
    that were embedded; `peak_memory_mib` is the most resident memory of the run's main process so far.
    """

    id: str
    collection_id: str
    started: str
    seconds: float
    encoder: str
    encoder_sha256: str
    added: int
    changed: int
    unchanged: int
    removed: int
    passages: int
    failures: tuple[Failure, ...] = ()
    remarks: tuple[Remark, ...] = ()
    parsers: tuple[ParserCount, ...] = ()
    peak_memory_mib: int = 0


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage with its scores: `score` is the fused one, 0..1.

    `dense` is the cosine similarity of query and passage, None in a search by words alone; `lexical` is the
    index's BM25 score, None if the search by words did not find the passage. `sentence_score` is the highest
    cosine among the paper's title and the passage's sentences, each encoded alone; `best_sentence` is the
    nearest sentence, counted from 0.
    """

    passage: Passage
    score: float
    dense: float | None
    lexical: float | None
    sentence_score: float | None = None
    best_sentence: int | None = None


@dataclass(frozen=True, slots=True)
class PaperHits:
    """A paper and its passages that were found, best first; `score` is the paper's own, 0..1.

    `is_named`: the query names the paper itself, one of its authors, or a phrase that it holds.
    """

    paper: Paper
    hits: tuple[Hit, ...]
    score: float
    is_named: bool = False


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of the corpus; an empty tuple or None does not restrict.

    `years` is an inclusive range (first, last). `topics` are keys: of each kind among them, a paper has to
    have at least one. It has to have one of the `venues`, one of the `authors` (by `Author.name`), and so on.
    """

    collections: tuple[str, ...] = ()
    papers: tuple[str, ...] = ()
    years: tuple[int, int] | None = None
    topics: tuple[str, ...] = ()
    venues: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()


def paper_id(collection_id: str, key: str) -> str:
    """Return the id of a paper without an id of its own, from its `key` in the collection."""
    return f"{collection_id}/{key}"


def passage_id(paper: str, number: int) -> str:
    """Return the id of passage `number` of a paper."""
    return f"{paper}#{number}"


def parse_passage_id(identifier: str) -> tuple[str, int]:
    """Return paper id and number of a passage id; raises ValueError for anything else."""
    paper, mark, number = identifier.rpartition("#")
    if not mark or not paper or not number.isdecimal():
        raise ValueError(f"not a passage id: {identifier!r}")
    return paper, int(number)


UPLOADS = "your-documents"
"""The collection of a visit's documents; no collection of a corpus has this name or prefix."""


def library_collection(library_id: str) -> str:
    """Return the collection id of a visitor's kept library."""
    return f"{UPLOADS}.{library_id}"


def library_of(identifier: str) -> str:
    """Return the id of the kept library that holds a paper or collection with this id, "" for none."""
    place, _, library = identifier.partition("/")[0].partition(".")
    return library if place == UPLOADS else ""


def is_upload(paper_id: str) -> bool:
    """Return True if this is the id of a visitor's document, kept or not."""
    return paper_id.startswith((f"{UPLOADS}/", f"{UPLOADS}."))


def topic_key(kind: TopicKind, name: str) -> str:
    """Return the id of a topic, such as "task:question answering"."""
    return f"{kind}:{name}"


def parse_topic_key(key: str) -> tuple[TopicKind, str]:
    """Return kind and name of a topic's key; raises ValueError for anything else."""
    kind, mark, name = key.partition(":")
    if not mark or not name or kind not in get_args(TopicKind):
        raise ValueError(f"not a topic's key: {key!r}")
    return cast(TopicKind, kind), name
