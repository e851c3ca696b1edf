"""The corpus for programs: typed requests, operations on a published corpus, and what is told of them."""

from assistant.serving.requests import (
    AskRequest,
    CiteRequest,
    CompareRequest,
    InvalidRequestError,
    PaperRequest,
    Request,
    SearchRequest,
    fault_for_programs,
    field_fault,
)
from assistant.serving.documents import (
    CitationsDocument,
    CollectionsDocument,
    ReadPaperDocument,
    SearchDocument,
    WritersDocument,
    schema_of,
    to_json,
)
from assistant.serving.answers import (
    EVENT_NAMES,
    AnswerDocument,
    EventDocument,
    answer_document,
    event_document,
)
from assistant.serving.comparisons import ComparisonDocument, comparison_document
from assistant.serving.operations import (
    NotFoundError,
    begin_question,
    check_papers,
    check_writer,
    cite_papers,
    list_collections,
    list_writers,
    read_paper,
    search_papers,
)
from assistant.serving.spending import (
    SpendingAccount,
    check_counted,
    is_limited,
    model_of,
    uncounted_models,
)
from assistant.serving.library import OpenLibrary, PublishedLibrary

__all__ = [
    "EVENT_NAMES", "AnswerDocument", "AskRequest", "CitationsDocument", "CiteRequest",
    "CollectionsDocument", "CompareRequest", "ComparisonDocument", "EventDocument",
    "InvalidRequestError", "NotFoundError", "OpenLibrary", "PaperRequest", "PublishedLibrary",
    "ReadPaperDocument", "Request", "SearchDocument", "SearchRequest", "SpendingAccount", "WritersDocument",
    "answer_document", "begin_question", "check_counted", "check_papers", "check_writer", "cite_papers",
    "comparison_document", "event_document", "fault_for_programs", "field_fault", "is_limited",
    "list_collections", "list_writers", "model_of", "read_paper", "schema_of", "search_papers", "to_json",
    "uncounted_models"
]  # fmt: skip
