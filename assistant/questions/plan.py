"""The plan of a question: what it asks, read once before the search and used by all later steps."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from assistant.questions.comparisons import compared, is_open_comparison
from assistant.questions.intent import Asked, asked_in_parts, is_yes_or_no, read_question, request_kind
from assistant.questions.language import AskedLanguage, read_language
from assistant.questions.listing import asked_as_list, asked_as_overview
from assistant.questions.names import asks_who, names_in, parts_of_name, squashed
from assistant.questions.parts import AskedPart, asked_part
from assistant.questions.perspective import Perspective, perspective_of
from assistant.questions.rewriting import rewrite_from_words
from assistant.questions.subject import asks_of_unnamed_paper, subject_stems
from assistant.records import AskOptions, RequestKind, Rewrite, Turn
from corpus.language.identified import foreign_language
from corpus.search.query import read_query
from corpus.store.corpus import Corpus
from corpus.text import storable, words

SHORTEST_NAME = 3
SHORTEST_QUESTION = 3  # words of a question that says itself which kind of answer it asks for
ENGLISH_ASKED = AskedLanguage()


@dataclass(frozen=True, slots=True)
class QuestionPlan:
    """The plan of a question: its kind and query, and what its words ask for.

    `rewrite` is kept in trails. All other fields are read from `query`: the query searched for, or the same
    in the words of the papers found (`with_query`). `language` is that of the query, "" for English or if
    unsure; `asked_in` that of the question, `answered_in` that of its answer. `parts` are the questions that
    it joins, mostly one. `names` are its names and `name_parts` their parts, squashed for `says_name`.
    `asked` is what any answer must have, `part` the part of a paper asked for, `sides` the two things
    compared, `subject` the stems of its subject.
    """

    rewrite: Rewrite
    query: str
    asked_in: AskedLanguage
    answered_in: str
    language: str
    parts: tuple[str, ...]
    names: tuple[str, ...]
    name_parts: tuple[str, ...]
    asked: Asked
    part: AskedPart | None
    sides: tuple[str, str] | None
    perspective: Perspective | None
    subject: frozenset[str]
    is_open_comparison: bool
    is_yes_or_no: bool
    is_of_unnamed_paper: bool
    asks_who: bool

    @property
    def kind(self) -> RequestKind:
        return self.rewrite.kind

    @property
    def new_parts(self) -> tuple[str, ...]:
        """The parts that the question itself asks, without earlier questions that its query repeats."""
        asked = words(self.rewrite.question)
        new = tuple(part for part in self.parts if words(part) == asked[-len(words(part)) :])
        return new if new and self.rewrite.used_turns else self.parts

    @property
    def of_part(self) -> AskedPart | None:
        """The part of one paper that a summary asks for, None if it asks for all of the paper."""
        is_of_part = self.kind == "summary" and self.part is not None and self.part.name != "about"
        return self.part if is_of_part else None

    def with_kind(self, kind: RequestKind) -> "QuestionPlan":
        return replace(self, rewrite=replace(self.rewrite, kind=kind))

    def with_query(self, query: str) -> "QuestionPlan":
        """Return the plan read from another wording, or from a part, of the question."""
        return self if query == self.query else plan_of(self.rewrite, self.asked_in, query)


def plan_of(
    rewrite: Rewrite, asked_in: AskedLanguage = ENGLISH_ASKED, query: str | None = None
) -> QuestionPlan:
    """Read the plan of a rewritten question from `query`, by default the one that is searched."""
    query = rewrite.searched_for if query is None else query
    names = names_in(query)
    parts_of_names = [part for name in names for part in parts_of_name(name)]
    return QuestionPlan(
        rewrite=rewrite,
        query=query,
        asked_in=asked_in,
        answered_in=rewrite.language or foreign_language(rewrite.question),
        language=foreign_language(query),
        parts=tuple(asked_in_parts(query)),
        names=tuple(name for name in map(squashed, names) if len(name) >= SHORTEST_NAME),
        name_parts=tuple(part for part in parts_of_names if len(part) >= SHORTEST_NAME),
        asked=read_question(query),
        part=asked_part(query),
        sides=compared(query),
        perspective=perspective_of(query),
        subject=subject_stems(query),
        is_open_comparison=is_open_comparison(query),
        is_yes_or_no=is_yes_or_no(query),
        is_of_unnamed_paper=not rewrite.edited and asks_of_unnamed_paper(query),
        asks_who=asks_who(f"{rewrite.question} {query}"),
    )


def plan_question(
    question: str,
    history: tuple[Turn, ...],
    options: AskOptions,
    *,
    corpus: Corpus,
    encoder: str,
    rewrite_question: Callable[[], Rewrite],
    is_refused: Callable[[QuestionPlan], bool],
) -> QuestionPlan:
    """Return the plan of a question in the light of `history`.

    A query of the reader's is kept. `encoder` names the encoder. `rewrite_question` asks the writer for the
    query. It is not called if a foreign question can be searched without translation, nor for a question
    that refers to no earlier turn and that `is_refused` says would be refused anyway.
    """
    kind = options.kind or request_kind(question, options.scope)

    def read(rewrite: Rewrite) -> QuestionPlan:
        rewrite = rewrite if rewrite.edited else _as_corpus_reads(rewrite, kind, options, corpus)
        return plan_of(rewrite, read_language(rewrite, encoder, corpus, options.scope))

    if query := storable(options.search_query).strip():
        return read(Rewrite(question, query, kind=kind, edited=True))
    by_words = read(rewrite_from_words(question, history))
    if by_words.asked_in.code:
        if by_words.asked_in.is_searched_as_asked(follows=bool(history)):
            return by_words
    elif history and not by_words.rewrite.used_turns and is_refused(by_words):
        return by_words
    return read(rewrite_question())


def _as_corpus_reads(rewrite: Rewrite, kind: RequestKind, options: AskOptions, corpus: Corpus) -> Rewrite:
    """Return a rewritten question in the corpus's spelling, with its kind."""
    rewrite = as_read(corpus, rewrite)
    is_short = len(words(rewrite.question)) <= SHORTEST_QUESTION
    if not options.kind and (rewrite.language or (is_short and rewrite.used_turns)):
        # "[2]?" is a request for a summary once it is known what [2] was.
        kind = request_kind(rewrite.search_query, options.scope)
    if kind == "list":
        # Every wording of a request for papers finds the same ones.
        rewrite = replace(rewrite, search_query=asked_as_list(rewrite.search_query))
    elif kind == "synthesis":
        rewrite = replace(rewrite, search_query=asked_as_overview(rewrite.search_query))
    return replace(rewrite, kind=kind)


def as_read(corpus: Corpus, rewrite: Rewrite) -> Rewrite:
    """Return a rewrite with its query in the corpus's spelling; the reader's own query does not change."""
    query = read_query(corpus, rewrite.search_query, verbatim=is_verbatim(rewrite))
    read_as = query.text if query.respelt else rewrite.read_as
    return replace(rewrite, read_as=read_as, abbreviations=query.abbreviations)


def is_verbatim(rewrite: Rewrite) -> bool:
    """Return True if the query must not be respelt: the reader wrote it, or it is in another language."""
    return rewrite.edited or bool(foreign_language(rewrite.search_query))
