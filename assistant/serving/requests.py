"""Requests of programs: foreign text, so they are validated, and unknown fields are refused."""

from collections.abc import Mapping
from typing import Annotated, Any, get_args

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    Strict,
    ValidationError,
    model_validator,
)
from pydantic_core import PydanticCustomError

from assistant.bounds import LONGEST_COLUMN, LONGEST_DESCRIPTION, LONGEST_QUESTION, MOST_COLUMNS
from assistant.comparing.admission import MOST_KEPT, MOST_PAPERS, MOST_SAMPLES, MOST_VOTES
from assistant.comparing.records import ComparisonOptions, ComparisonRequest, PaperOrder
from assistant.exports.registry import REFERENCE_FORMATS, ReferenceName
from assistant.generators.best_of import MOST_DRAFTS
from assistant.generators.protocol import EXTRACTIVE
from assistant.models.protocol import ModelError
from assistant.records import AskOptions, AssistantError, RequestKind
from assistant.storage.spending import SpendingError
from corpus.records import Scope, TopicKind
from corpus.search.hybrid import DEFAULT_PAPERS, MAX_PAPERS, MIN_PAPERS
from corpus.wording import counted, joined

LONGEST_ID, MOST_IDS = 300, 100
# Of an error: how many unknown fields it names, and how long the name of a field may be in it.
MOST_FIELDS_NAMED, LONGEST_PLACE = 3, 100
MOST_PASSAGES_FOUND, MOST_PASSAGES_READ = 10, 50
MOST_CITED = 200
_REFERENCE_LABELS = joined((form.label for form in REFERENCE_FORMATS), "or")
_FIRST_YEAR, _LAST_YEAR = 0, 9999


def _whole(value: object) -> object:
    """Convert a float with an integer value, as JSON Schema allows: 10.0 is an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


WHOLE = BeforeValidator(_whole)
# Ids stand in filters and addresses; no id of a paper has characters that are not seen.
Identifier = Annotated[str, Field(min_length=1, max_length=LONGEST_ID, pattern=r"^[^\x00-\x1f\x7f]+$")]
Topic = Annotated[
    str,
    Field(max_length=LONGEST_ID, pattern=rf"^(?:{'|'.join(get_args(TopicKind))}):[^\x00-\x1f\x7f]+$"),
]
Name = Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
# JSON has lists, which strict validation does not take for tuples. Validation ends with the first fault: each
# of 100,000 wrong entries would make an error object.
Names = Annotated[tuple[Name, ...], FailFast(), Strict(strict=False), Field(max_length=MOST_IDS)]
Topics = Annotated[tuple[Topic, ...], FailFast(), Strict(strict=False), Field(max_length=MOST_IDS)]
Identifiers = Annotated[tuple[Identifier, ...], FailFast(), Strict(strict=False), Field(max_length=MOST_IDS)]
Column = Annotated[str, Field(max_length=LONGEST_COLUMN)]
Columns = Annotated[tuple[Column, ...], FailFast(), Strict(strict=False), Field(max_length=MOST_COLUMNS)]
PaperCount = Annotated[int, Field(ge=MIN_PAPERS, le=MAX_PAPERS), WHOLE]
Year = Annotated[int, Field(ge=_FIRST_YEAR, le=_LAST_YEAR), WHOLE]


# Of the demonstration collection.
_EXAMPLES = ["field-notes-retrieval/bm25", "field-notes-retrieval/rank-fusion"]


class InvalidRequestError(AssistantError):
    """A request has not the form that was asked for; the message names the field at fault."""


class Request(BaseModel):
    """A request with the fields named here and no others."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    @model_validator(mode="before")
    @classmethod
    def _check_fields(cls, sent: Any) -> Any:
        """Refuse unknown fields with one error for all: pydantic makes an error object of each."""
        if isinstance(sent, Mapping):
            unknown = [str(name) for name in sent if name not in cls.model_fields]
            if unknown:
                named = [name[:LONGEST_PLACE] for name in unknown[:MOST_FIELDS_NAMED]]
                more = len(unknown) - len(named)
                raise PydanticCustomError("unknown_fields", "unknown", {"named": named, "more": more})
        return sent


class ScopeRequest(Request):
    """A part of the corpus; fields left out do not restrict it."""

    collections: Identifiers = Field(default=(), description="Ids of collections, alternatives.")
    papers: Identifiers = Field(default=(), description="Ids of papers, alternatives.")
    first_year: Year | None = Field(default=None, description="No papers from before this year.")
    last_year: Year | None = Field(default=None, description="No papers from after this year.")
    topics: Topics = Field(default=(), description="Keys of topics, such as “task:question answering”.")
    venues: Names = ()
    authors: Names = Field(default=(), description="Names of authors as the corpus writes them.")
    languages: Names = Field(default=(), description="ISO 639-1, such as “de”.")
    labels: Names = Field(default=(), description="What the owner has filed papers under.")

    def scope(self) -> Scope:
        years = None
        if self.first_year is not None or self.last_year is not None:
            first, last = self.first_year, self.last_year
            years = (_FIRST_YEAR if first is None else first, _LAST_YEAR if last is None else last)
        return Scope(
            self.collections,
            self.papers,
            years,
            self.topics,
            self.venues,
            self.authors,
            self.languages,
            self.labels,
        )


EVERYWHERE = ScopeRequest()


class SearchRequest(Request):
    """A search for papers and their passages."""

    query: str = Field(min_length=1, max_length=LONGEST_QUESTION, description="What to search for.")
    scope: ScopeRequest = EVERYWHERE
    papers: PaperCount = Field(default=DEFAULT_PAPERS, description="How many papers at most.")
    passages: Annotated[int, Field(ge=1, le=MOST_PASSAGES_FOUND), WHOLE] = Field(
        default=3, description="How many passages of each at most."
    )


class PaperRequest(Request):
    """A paper by its id, with a page of its passages."""

    id: Identifier = Field(description="The id of the paper.", examples=[_EXAMPLES[0]])
    first: Annotated[int, Field(ge=0, le=1_000_000), WHOLE] = Field(
        default=0, description="The first passage, counted from 0."
    )
    count: Annotated[int, Field(ge=0, le=MOST_PASSAGES_READ), WHOLE] = Field(
        default=20, description="How many passages at most."
    )


class AskRequest(Request):
    """A question to the corpus."""

    question: str = Field(min_length=1, max_length=LONGEST_QUESTION)
    scope: ScopeRequest = EVERYWHERE
    papers: PaperCount = Field(default=DEFAULT_PAPERS, description="From how many papers to answer at most.")
    search_query: str = Field(
        default="", max_length=LONGEST_QUESTION, description="What to search for; empty to have it made."
    )
    kind: RequestKind | None = Field(
        default=None, description="What is asked for; else it is read from the question."
    )
    writer: Name = Field(
        default=EXTRACTIVE, description="What writes the answer: “extractive”, or a model's id."
    )
    drafts: Annotated[int, Field(ge=1, le=MOST_DRAFTS), WHOLE] = Field(
        default=1, description="Of several drafts the best cited is kept."
    )

    def options(self) -> AskOptions:
        return AskOptions(self.scope.scope(), self.papers, self.search_query, self.kind, self.drafts)


class CompareRequest(Request):
    """A comparison of papers in one cited text; samples, votes and what is kept are for models alone."""

    papers: Annotated[tuple[Identifier, ...], FailFast(), Strict(strict=False)] = Field(
        min_length=2, max_length=MOST_PAPERS, description="Ids of papers.", examples=[_EXAMPLES]
    )
    about: str = Field(
        min_length=1, max_length=LONGEST_DESCRIPTION, description="What they are compared for."
    )
    writer: Name = Field(default=EXTRACTIVE, description="What compares: “extractive”, or a model's id.")
    order: PaperOrder = Field(default="given", description="The order in which papers are compared.")
    samples: Annotated[int, Field(ge=1, le=MOST_SAMPLES), WHOLE] = Field(default=ComparisonOptions().samples)
    votes: Annotated[int, Field(ge=1, le=MOST_VOTES), WHOLE] = Field(default=ComparisonOptions().votes)
    keep: Annotated[int, Field(ge=1, le=MOST_KEPT), WHOLE] = Field(default=ComparisonOptions().keep)
    questions: Columns = Field(
        default=(),
        description="Your own questions: each paper is asked them, and answers in its own sentences.",
    )

    def comparison(self) -> ComparisonRequest:
        options = ComparisonOptions(self.samples, self.votes, self.keep, self.order)
        return ComparisonRequest(self.papers, self.about, options, self.questions)


class CiteRequest(Request):
    """References to papers, ready for a bibliography."""

    papers: Annotated[tuple[Identifier, ...], FailFast(), Strict(strict=False)] = Field(
        min_length=1, max_length=MOST_CITED, description="Ids of papers.", examples=[_EXAMPLES]
    )
    format: ReferenceName = Field(default="bib", description=f"{_REFERENCE_LABELS}.")


def fault_for_programs(error: AssistantError) -> str:
    """Describe an error for programs: with what they can do, not a screen or an operator."""
    match error:
        case ModelError():
            return f"{error.plain} Send the request again, or choose another writer."
        case SpendingError():
            return f"{error.plain} The writer “{EXTRACTIVE}” costs nothing."
        case _:
            return error.plain


def describe_fault(error: ValidationError) -> str:
    """Describe a request's fault; it repeats nothing that was sent but names of fields."""
    first = error.errors(include_input=False, include_url=False)[0]
    return field_fault(first["loc"], first)


def field_fault(location: tuple[int | str, ...], fault: Mapping[str, Any]) -> str:
    """Describe the fault of one field, by its location and pydantic's message."""
    context = fault.get("ctx", {})
    if fault["type"] == "unknown_fields":
        names = [f"“{_place((*location, name))}”" for name in context["named"]]
        names += [counted(context["more"], "more field")] if context["more"] else []
        are = "are" if len(names) > 1 else "is"
        return f"{joined(names)} {are} nothing that is taken here. See the schema for what is taken."
    where = _place(location)
    template = _FAULTS.get(str(fault["type"]))
    what = template.format(**context) if template else f"is not valid: {fault['msg']}"
    return f"{f'“{where}”' if where else 'The request'} {what}. See the schema for what is taken."


def _place(location: tuple[int | str, ...]) -> str:
    return ".".join(map(str, location)).encode("ascii", "replace").decode()[:LONGEST_PLACE]


# By the types of faults that pydantic knows; of all else its own words are repeated.
_FAULTS = {
    "missing": "is missing",
    "too_short": "has to list at least {min_length}, not {actual_length}",
    "too_long": "may list at most {max_length}",
    "string_too_short": "has to have at least {min_length} character",
    "string_too_long": "may have at most {max_length} characters",
    "string_type": "has to be text",
    "string_pattern_mismatch": "has characters or a form that is not taken",
    "int_type": "has to be a whole number",
    "int_parsing": "has to be a whole number",
    "tuple_type": "has to be a list",
    "model_type": "has to be an object",
    "literal_error": "has to be one of {expected}",
    "greater_than_equal": "has to be at least {ge}",
    "less_than_equal": "may be at most {le}",
}
