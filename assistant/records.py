"""The records of a conversation: from a question to its checked answer, with everything sent and received."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from assistant.annotations import Annotation
from assistant.verdicts import Feedback
from corpus.records import Paper, PaperHits, Passage, PassageSize, Scope

# The last three are steps of comparisons.
Step = Literal[
    "rewrite",
    "retrieve",
    "search_again",  # a model makes a query of the part of a question that was left open
    "rerank",  # a model says which papers bear on the question
    "write",
    "revise",  # a model writes its draft again without what the papers do not carry
    "check",
    "elements",
    "compare",
    "vote",
    "columns",  # the reader's own questions are put to each paper of a comparison
]
RefusalReason = Literal[
    "empty_corpus",
    "language",
    "which_paper",  # it is asked of "this paper", and nothing tells which one
    "nothing_relevant",  # nothing found is near
    "not_about",  # what was found is near, and does not say what is asked
    "nothing_supported",  # its writer says that the papers do not tell
    "not_carried",  # what was written is not carried by what it cites
    "nothing_written",
]
# Why a draft is empty where its writer chooses sentences: none was near enough to the question.
NOTHING_NEAR = "nothing_near"
# The three kinds of request that TruthReader tells apart, and three that want a form of their own.
RequestKind = Literal["synthesis", "how", "summary", "fact", "list", "definition", "comparison"]
# ChatCite's seven questions to every paper.
ElementName = Literal[
    "research_questions",
    "methodology",
    "results",
    "conclusions",
    "contributions",
    "innovations",
    "limitations",
]
# The fault of a draft as it was received; the draft is kept, and its showable part is shown.
DraftProblem = Literal[
    "interrupted",  # the connection ended before the reply did
    "cut_short",  # it ran out of tokens
    "no_citations",
    "labels_only",
    "structured",  # JSON or the like where prose was asked for
    "too_long",
    "markup",
    "language",
    "empty",
    "echo",  # it repeats what the model was sent
    "looped",  # it says one thing over and over
    "filtered",  # its server's content filter held back the rest
    "across",  # it is in another language than its papers, so that only its numbers could be checked
]


@dataclass(frozen=True, slots=True)
class Rewrite:
    """A question as it was understood: its search query, and the kind of request it is.

    `used_turns` are the indices of the earlier turns that the query draws on; `edited`: the reader wrote the
    query. `read_as` is the query in the corpus's spelling, "" if that is no different. `language` is the
    language that the question was translated from, ISO 639-1 or "und", "" if it was not translated.
    `abbreviations` are pairs of a short form in the query and its long form in the corpus; both are searched.
    """

    question: str
    search_query: str
    used_turns: tuple[int, ...] = ()
    kind: RequestKind = "synthesis"
    edited: bool = False
    read_as: str = ""
    language: str = ""
    abbreviations: tuple[tuple[str, str], ...] = ()

    @property
    def searched_for(self) -> str:
        """The query that was sent to the search."""
        return self.read_as or self.search_query


@dataclass(frozen=True, slots=True)
class LabelledPaper:
    """A paper of the evidence: its label and its passages in reading order.

    `found_for` are the parts of the question for which a second search found the paper.
    """

    label: int
    paper: Paper
    passages: tuple[Passage, ...]
    found_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The evidence given to the generator: papers labelled [1]..[n]."""

    papers: tuple[LabelledPaper, ...] = ()

    def paper(self, label: int) -> LabelledPaper | None:
        return next((paper for paper in self.papers if paper.label == label), None)

    def without(self, passage_ids: Collection[str]) -> "Evidence":
        """Return the evidence without some passages, and without papers that have none left."""
        if not passage_ids:
            return self
        kept = (
            replace(
                paper, passages=tuple(passage for passage in paper.passages if passage.id not in passage_ids)
            )
            for paper in self.papers
        )
        return Evidence(tuple(paper for paper in kept if paper.passages))


@dataclass(frozen=True, slots=True)
class Draft:
    """An answer as it was written, unchecked.

    `finish_reason` is "length" when the writer ran out of tokens, "interrupted" when the connection broke,
    "content_filter" when the server withheld the rest, "too_long" when the text exceeded any useful length,
    NOTHING_NEAR when the extractive writer found no sentence near enough. `left_out` are the ids of passages
    of the evidence that were not shown to the writer.
    """

    text: str
    finish_reason: str = "stop"
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """A label resolved to the best passage and sentence of its paper.

    `claim` is the text before the label: the whole sentence, or its part up to the label. `overlap` is
    ROUGE-1 precision of the claim against the passage (TruthReader). `sentence` is None where no sentence is
    similar to the claim; `evidence` is the most similar sentence in any case. `support` is 0..1, or None
    without a support scorer. Neither is measured across languages. `found`: the check found the paper, since
    the writer cited none, or one that does not support the claim.
    """

    label: int
    claim: str
    passage_id: str
    sentence: int | None
    evidence: str
    overlap: float | None
    support: float | None = None
    found: bool = False


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence of an answer: offsets into its text, the claim without labels, and its citations.

    `unknown_labels` are labels of no paper in the evidence; they are never linked. `needs_citation`: the
    sentence makes a claim and cites nothing. `support` is that of all its citations together. `better` is
    another paper that supports the claim where the cited ones do not; the reader is offered it, but it is no
    citation. `not_said` are phrases of the claim that none of its citations says.
    """

    start: int
    end: int
    claim: str
    labels: tuple[int, ...]
    citations: tuple[Citation, ...]
    unknown_labels: tuple[str, ...] = ()
    needs_citation: bool = False
    support: float | None = None
    better: Citation | None = None
    not_said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NearestPassage:
    """One of the passages nearest to a question that the corpus could not answer."""

    passage_id: str
    paper_id: str
    title: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the corpus cannot answer: a message, the nearest passages, and the topics it `covers`."""

    reason: RefusalReason
    message: str
    nearest: tuple[NearestPassage, ...] = ()
    covers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """A checked answer: `text` carries labels in the one form [n]; with a refusal it has no sentences.

    `citation_recall` is the share of claims that their citations support, `citation_precision` the share of
    citations needed for that, 0..1 (ALCE, section 4); None where nothing can be counted. `relevance` is the
    probability that the text answers the question, 0..1; None if not measured. `not_carried` are sentences
    that were removed from the draft because no paper supports them. `stands_in_for` names the writer whose
    draft could not be used if this is the extractive answer in its place; `remark` says why, or what was
    added to the text.
    """

    text: str
    sentences: tuple[AnswerSentence, ...] = ()
    refusal: Refusal | None = None
    citation_recall: float | None = None
    citation_precision: float | None = None
    problems: tuple[DraftProblem, ...] = ()
    relevance: float | None = None
    not_carried: tuple[str, ...] = ()
    stands_in_for: str = ""
    remark: str = ""

    @property
    def cited_labels(self) -> tuple[int, ...]:
        """The labels of the papers cited, in order of first appearance."""
        return tuple(dict.fromkeys(label for sentence in self.sentences for label in sentence.labels))


@dataclass(frozen=True, slots=True)
class Message:
    """One message sent to a chat model."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Parameters:
    """Generation parameters of a model; None leaves one to the model's server.

    `repetition_penalty` is 1.0 for none.
    """

    temperature: float = 0.2
    top_p: float = 0.9
    max_tokens: int = 700
    top_k: int | None = None
    repetition_penalty: float | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """One request to a generator: exactly what was sent and what came back.

    The extractive generator asks no model: its calls have no messages and no parameters. Token counts are
    None if the server did not report them, `price` (US dollars) if the model's price is not known. `started`
    is ISO 8601 in UTC. `attempts` is how often the request was sent, `left_out` the ids of the passages that
    were not sent, `problem` the reason of a reply that broke off, in words. `served` is the model that the
    server reports, "" if it is the requested `model`. `cached_tokens` of the prompt came from the server's
    cache, None if not reported. `not_taken` are request fields that the server refuses: they were not sent.
    """

    step: Step
    model: str
    messages: tuple[Message, ...]
    parameters: Parameters | None
    reply: str
    started: str
    seconds: float
    finish_reason: str = "stop"
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    price: float | None = None
    attempts: int = 1
    first_token_seconds: float | None = None
    left_out: tuple[str, ...] = ()
    problem: str = ""
    served: str = ""
    cached_tokens: int | None = None
    not_taken: tuple[str, ...] = ()


Number = TypeVar("Number", int, float)


@dataclass(frozen=True, slots=True)
class Usage:
    """The total cost of calls; None where no call reports it."""

    prompt_tokens: int | None
    completion_tokens: int | None
    price: float | None


def sum_known(counts: Iterable[Number | None]) -> Number | None:
    """Return the sum of the counts that are not None, None if all are."""
    known = [count for count in counts if count is not None]
    return sum(known[1:], start=known[0]) if known else None


def usage_of(calls: Iterable[Call]) -> Usage:
    """Sum the tokens and prices of calls."""
    made = tuple(calls)
    return Usage(
        prompt_tokens=sum_known(call.prompt_tokens for call in made),
        completion_tokens=sum_known(call.completion_tokens for call in made),
        price=sum_known(call.price for call in made),
    )


class CallLog:
    """Collects the calls of one turn while it runs."""

    def __init__(self) -> None:
        self._calls: list[Call] = []

    def add(self, call: Call) -> None:
        self._calls.append(call)

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(self._calls)


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """The id and scores of a passage that was found (see `corpus.records.Hit`)."""

    passage_id: str
    score: float
    dense: float | None
    lexical: float | None
    sentence: float | None = None


@dataclass(frozen=True, slots=True)
class SecondSearch:
    """A search for a part of the question that the first search left open: its query and hits.

    `joined` are the ids of the papers whose passages were added to the evidence.
    """

    part: str
    query: str
    hits: tuple[ScoredPassage, ...] = ()
    joined: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StepTime:
    step: Step
    seconds: float


@dataclass(frozen=True, slots=True)
class TableVersion:
    table: str
    version: int


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an answer came from: product, generator, encoder, support scorer and the tables' versions.

    `learned` names the learned parts other than the scorer; `passages` are the passage sizes of the corpus,
    mostly one.
    """

    product: str
    generator: str
    encoder: str
    encoder_sha256: str
    corpus: tuple[TableVersion, ...]
    encoder_runtime: str = ""
    scorer: str = ""
    learned: tuple[str, ...] = ()
    passages: tuple[PassageSize, ...] = ()


@dataclass(frozen=True, slots=True)
class Turn:
    """A question with its answer, everything sent and received in between, and the reader's feedback.

    `question` and `asked` identify a turn of a conversation; its feedback may change. `in_context`,
    `passages`, `finds_citations`, `careful` and `names_unsaid` are those of AskOptions; trails from before
    0.3 lack the last three. `quick` is the extractive answer shown while a slow model was writing. `hits` are
    those of the first search.
    """

    question: str
    asked: str
    scope: Scope
    papers_wanted: int
    rewrite: Rewrite
    hits: tuple[ScoredPassage, ...]
    evidence: Evidence
    answer: Answer
    calls: tuple[Call, ...]
    seconds: tuple[StepTime, ...]
    provenance: Provenance
    drafts: int = 1
    feedback: Feedback = field(default_factory=Feedback)
    in_context: bool = False
    passages: tuple[int, ...] = (3,)  # what older versions of Paper Trail read, and did not record
    finds_citations: bool = False
    careful: bool = False
    names_unsaid: bool = False
    quick: Answer | None = None
    second_searches: tuple[SecondSearch, ...] = ()

    @property
    def all_hits(self) -> tuple[ScoredPassage, ...]:
        """The passages found, without duplicates, those of the first search first."""
        hits: dict[str, ScoredPassage] = {}
        for hit in (*self.hits, *(hit for second in self.second_searches for hit in second.hits)):
            hits.setdefault(hit.passage_id, hit)
        return tuple(hits.values())

    @property
    def usage(self) -> Usage:
        return usage_of(self.calls)

    @property
    def cited_papers(self) -> tuple[LabelledPaper, ...]:
        """The papers that the answer cites, in order of first appearance."""
        papers = (self.evidence.paper(label) for label in self.answer.cited_labels)
        return tuple(paper for paper in papers if paper)

    def is_same_as(self, other: "Turn") -> bool:
        """Return True if both are the same turn, whatever their feedback."""
        return (self.asked, self.question) == (other.asked, other.question)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Turns in order, under an id and a title.

    `notes` are the reader's annotations of the cited papers. They are added on export and have no effect on
    answers, scores or replays.
    """

    id: str
    title: str
    turns: tuple[Turn, ...] = ()
    notes: tuple[Annotation, ...] = ()

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers that the answers cite, without duplicates, in the order of their first citation."""
        papers: dict[str, Paper] = {}
        for turn in self.turns:
            for labelled in turn.cited_papers:
                papers.setdefault(labelled.paper.id, labelled.paper)
        return tuple(papers.values())


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Event: the search query is known."""

    rewrite: Rewrite


@dataclass(frozen=True, slots=True)
class Retrieved:
    """Event: the papers are found; emitted again after second searches."""

    papers: tuple[PaperHits, ...]
    second_searches: tuple[SecondSearch, ...] = ()


@dataclass(frozen=True, slots=True)
class Quick:
    """Event: the checked extractive answer, to be read while a slow model writes its own."""

    turn: Turn


@dataclass(frozen=True, slots=True)
class Written:
    """Event: a piece of the draft has been written; the pieces joined give its text."""

    text: str


@dataclass(frozen=True, slots=True)
class Checking:
    """Event: the draft is complete; its citations are being checked."""


@dataclass(frozen=True, slots=True)
class Answered:
    """Event: the turn is complete; always the last."""

    turn: Turn


Event = Rewritten | Retrieved | Quick | Written | Checking | Answered


class AssistantError(Exception):
    """A request was rejected; the message says why and what to do.

    The message is `plain`, then `setup` (advice for the operator only), then `kept` (what happens to the
    question). `fault` is the message without `kept`.
    """

    def __init__(self, fault: str = "", kept: str = "", *, setup: str = "") -> None:
        self.plain = fault
        self.fault = f"{fault} {setup}" if setup else fault
        super().__init__(f"{self.fault} {kept}" if kept else self.fault)


@dataclass(frozen=True, slots=True)
class AskOptions:
    """The options of a question.

    `search_query` is the reader's own query, "" to make one from the question. `kind` None is read from the
    question. Of several `drafts` the one with the best citations is kept. `in_context`: a model is shown
    passages that say little alone together with their neighbours. `passages` is the most passages used of the
    first paper, the second and so on; the last number holds for all papers after it.

    `finds_citations`: a model's claim without a citation is cited to the paper that supports it best, if one
    does. `careful`: claims that no paper supports are removed, and if nothing remains the extractive answer
    stands in; None for models below eight billion parameters only. `names_unsaid`: phrases of a sentence that
    none of its citations says are named. `searches_again`: open parts of the question get a second search;
    None leaves that to the writer.
    """

    scope: Scope = field(default_factory=Scope)
    papers: int = 10
    search_query: str = ""
    kind: RequestKind | None = None
    drafts: int = 1
    in_context: bool = True
    # The papers found first most likely hold the answer.
    passages: tuple[int, ...] = (8, 5, 4, 3)
    finds_citations: bool = True
    careful: bool | None = None
    names_unsaid: bool = True
    searches_again: bool | None = None
