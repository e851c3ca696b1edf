"""The routes of the API with their requests and replies, and its OpenAPI document."""

import logging
import uuid
from collections.abc import AsyncIterator, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Path, Query, Request, Security
from fastapi.exceptions import RequestValidationError
from fastapi.security import HTTPBearer
from pydantic import ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match, Route

from assistant.exports.registry import (
    COMPARISON_FORMATS,
    CONVERSATION_FORMATS,
    ConversationFormatName,
    OptionName,
)
from assistant.records import AssistantError
from assistant.serving.answers import EVENT_NAMES
from assistant.serving.documents import (
    CitationsDocument,
    CollectionsDocument,
    ReadPaperDocument,
    SearchDocument,
    WritersDocument,
)
from assistant.serving.operations import (
    cite_papers,
    list_collections,
    list_writers,
    read_paper,
    search_papers,
)
from assistant.serving.requests import (
    CiteRequest,
    CompareRequest,
    InvalidRequestError,
    PaperRequest,
    SearchRequest,
    field_fault,
)
from assistant.serving.requests import Request as TypedRequest
from corpus import VERSION
from corpus.errors import CorpusError
from explorer.api import comparisons, questions
from explorer.api.errors import (
    LARGEST_BODY,
    TOO_LARGE,
    ErrorDocument,
    Problem,
    in_store,
    problem_of,
    problem_reply,
    reply,
)
from explorer.api.keys import Program
from explorer.api.questions import ID_PATTERN, AskedDocument, AskForm
from explorer.api.slots import thread_of
from explorer.api.streams import EVENT_STREAM
from explorer.app.base_path import base_path
from explorer.app.resources import open_library

PREFIX = "/api/v1"
OPENAPI_PATH = f"{PREFIX}/openapi.json"
NO_JSON = "The body of the request is not JSON in UTF-8."
NO_OBJECT = "The body has to be a JSON object, sent with the header “content-type: application/json”."
_DESCRIPTION = (
    "A fixed corpus of research papers: search it, read papers, ask it, compare papers, and take away the "
    "trail of what was answered. Every sentence of an answer leads to the passage that carries it. Errors "
    "have one form; `message` says what happened and what to do."
)
_EVENTS = (
    "Server-sent events with JSON as their data: `rewritten`, `retrieved`, `quick` (the extractive answer, "
    "while a slow model writes), `written` (pieces of the unchecked draft), `checking`, and at the end "
    "`answered` (as POST /ask answers) or `error`. Lines that begin with a colon say only that the "
    "connection stands. Who goes away stops the work."
)
_COMPARISON_EVENTS = (
    "Server-sent events with JSON as their data: `progress`, and at the end `compared`, `stopped` or "
    "`error`. Who goes away stops nothing: the comparison goes on and can be asked for."
)
_STATUSES = (400, 401, 404, 405, 413, 422, 429, 500, 502, 503)
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorDocument, "description": "An error"} for status in _STATUSES
}

logger = logging.getLogger(__name__)


async def _program(request: Request) -> Program:
    program = request.state.program
    assert isinstance(program, Program), "only the OpenAPI document is read without a key"
    return program


async def _nothing_in_query(request: Request) -> None:
    if request.query_params:
        raise InvalidRequestError("This address takes no parameters: what is asked stands in the body.")


class PaperQuery(PaperRequest):
    """Like the request, of parameters, which are all text."""

    model_config = ConfigDict(strict=False)


class ConversationTrail(TypedRequest):
    """The format in which to write a conversation."""

    format: ConversationFormatName = "json"


class ComparisonTrail(TypedRequest):
    """The format in which to write a comparison."""

    format: OptionName = "json"


Asking = Annotated[Program, Depends(_program)]
Identifier = Annotated[str, Path(pattern=ID_PATTERN)]


async def _thread(program: Asking) -> AsyncIterator[None]:
    with thread_of(program):
        yield


_IN_THREAD = Depends(_thread, scope="function")
_bare: dict[str, Any] = {"dependencies": [Depends(_nothing_in_query)], "responses": _ERRORS}
_bare_in_thread: dict[str, Any] = {**_bare, "dependencies": [*_bare["dependencies"], _IN_THREAD]}


def _file_contents(formats: Sequence[Any]) -> dict[int | str, dict[str, Any]]:
    """Describe the file formats of a trail in OpenAPI."""
    kinds = {form.mime: {"schema": {"type": "string"}} for form in formats} | {
        "application/json": {"schema": {}}
    }
    return {**_ERRORS, 200: {"description": "The file", "content": kinds}}


def _stream_contents(text: str, *names: str) -> dict[int | str, dict[str, Any]]:
    """Describe a stream in OpenAPI: the names of its events, each with JSON as its data."""
    data = {"type": "string", "contentMediaType": "application/json"}
    event = {
        "type": "object",
        "properties": {"event": {"enum": list(names)}, "data": data},
        "required": ["event", "data"],
    }
    return {**_ERRORS, 200: {"description": text, "content": {EVENT_STREAM: {"itemSchema": event}}}}


router = APIRouter(prefix=PREFIX, dependencies=[Security(HTTPBearer(auto_error=False))])


@router.get("/collections", response_model=CollectionsDocument, **_bare_in_thread)
def get_collections() -> Response:
    """List the collections of the corpus."""
    return reply(list_collections(open_library().corpus))


@router.get("/writers", response_model=WritersDocument, **_bare_in_thread)
def get_writers() -> Response:
    """List who can write answers, the default first."""
    return reply(list_writers(open_library().writers()))


@router.post("/search", response_model=SearchDocument, **_bare_in_thread)
def post_search(search: SearchRequest) -> Response:
    """Find papers by meaning, words, names of authors, titles or ids, with their best passages."""
    library = open_library()
    return reply(search_papers(library.corpus, library.encoder, search))


@router.get("/paper", response_model=ReadPaperDocument, responses=_ERRORS, dependencies=[_IN_THREAD])
def get_paper(query: Annotated[PaperQuery, Query()]) -> Response:
    """Read what is known of a paper, and a page of its passages in reading order."""
    return reply(read_paper(open_library().corpus, query))


@router.post("/cite", response_model=CitationsDocument, **_bare_in_thread)
def post_cite(cited: CiteRequest) -> Response:
    """Write references to papers as BibTeX, RIS or CSL-JSON."""
    return reply(cite_papers(open_library().corpus, cited))


@router.post("/ask", response_model=AskedDocument, **_bare)
async def post_ask(request: Request, question: AskForm, program: Asking) -> Response:
    """Answer a question from the papers, every sentence cited and scored, or refuse it and say why.

    With `Accept: text/event-stream` it replies as /ask/events does.
    """
    if request.headers.get("accept", "").startswith(EVENT_STREAM):
        return await questions.ask_events(request, question, program)
    return await questions.ask(request, question, program)


@router.post(
    "/ask/events",
    response_class=Response,
    dependencies=[Depends(_nothing_in_query)],
    responses=_stream_contents(_EVENTS, *EVENT_NAMES.values(), "error"),
)
async def post_ask_events(request: Request, question: AskForm, program: Asking) -> Response:
    """Answer a question, and tell each step as it happens."""
    return await questions.ask_events(request, question, program)


@router.get(
    "/conversations/{conversation}/trail",
    response_class=Response,
    responses=_file_contents(CONVERSATION_FORMATS),
    dependencies=[_IN_THREAD],
)
def get_conversation_trail(
    conversation: Identifier, query: Annotated[ConversationTrail, Query()], program: Asking
) -> Response:
    """Download a conversation: everything sent and received, or the papers that are cited."""
    store = in_store(open_library().conversations)
    trail = questions.own_conversation(store, conversation, program)
    form = next(form for form in CONVERSATION_FORMATS if form.name == query.format)
    return _file(form.write(trail), form.mime, f"conversation.{form.ending}")


@router.delete("/conversations/{conversation}", status_code=204, response_class=Response, **_bare_in_thread)
def delete_conversation(conversation: Identifier, program: Asking) -> Response:
    """Delete a conversation."""
    store = in_store(open_library().conversations)
    questions.own_conversation(store, conversation, program)
    store.delete(conversation)
    return Response(status_code=204)


@router.post("/comparisons", status_code=202, response_model=comparisons.ComparisonStatus, **_bare_in_thread)
def post_comparison(form: CompareRequest, program: Asking) -> Response:
    """Begin a comparison of papers in one cited text; its events and its status say how far it is."""
    return reply(comparisons.begin(form, program), 202)


@router.get("/comparisons/{comparison}", response_model=comparisons.ComparisonStatus, **_bare_in_thread)
def get_comparison(comparison: Identifier, program: Asking) -> Response:
    """Say how far a comparison is, with its text when it is finished."""
    return reply(comparisons.status(comparison, program))


@router.get(
    "/comparisons/{comparison}/events",
    response_class=Response,
    dependencies=[Depends(_nothing_in_query)],
    responses=_stream_contents(_COMPARISON_EVENTS, "progress", "compared", "stopped", "error"),
)
async def get_comparison_events(request: Request, comparison: Identifier, program: Asking) -> Response:
    """Tell how a comparison goes on, until it is over."""
    return await comparisons.events(request, comparison, program)


@router.post("/comparisons/{comparison}/stop", response_model=comparisons.ComparisonStatus, **_bare_in_thread)
def stop_comparison(comparison: Identifier, program: Asking) -> Response:
    """Stop a comparison; what is done of it is kept."""
    return reply(comparisons.stop(comparison, program))


@router.delete("/comparisons/{comparison}", status_code=204, response_class=Response, **_bare_in_thread)
def delete_comparison(comparison: Identifier, program: Asking) -> Response:
    """Delete a comparison, stopping it where it is under way."""
    comparisons.delete(comparison, program)
    return Response(status_code=204)


@router.get(
    "/comparisons/{comparison}/trail",
    response_class=Response,
    responses=_file_contents(COMPARISON_FORMATS),
    dependencies=[_IN_THREAD],
)
def get_comparison_trail(
    comparison: Identifier, query: Annotated[ComparisonTrail, Query()], program: Asking
) -> Response:
    """Download a finished comparison, as text, as data, or the papers it compares as references."""
    trail = comparisons.finished(comparison, program)
    form = next(form for form in COMPARISON_FORMATS if form.name == query.format)
    return _file(form.write(trail), form.mime, form.file_name)


def _file(written: str | bytes, mime: str, name: str) -> Response:
    """Return a file as an attachment, so that no browser shows it as a page of this server."""
    headers = {"content-disposition": f'attachment; filename="{name}"', "cache-control": "no-store"}
    content = written if isinstance(written, bytes) else written.encode("utf-8", "replace")
    return Response(content, headers=headers, media_type=mime)


async def _product_error(_request: Request, error: Exception) -> Response:
    assert isinstance(error, AssistantError | CorpusError)
    return problem_reply(problem_of(error))


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    location = tuple(first["loc"][1:])
    if first["type"] == "json_invalid":
        message = NO_JSON
    elif not location and first["type"] != "unknown_fields":
        message = NO_OBJECT
    else:
        message = field_fault(location, first)
    return problem_reply(Problem(400, "invalid_request", message))


async def _http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    described = f"{base_path()}{OPENAPI_PATH}"
    problems = {
        404: Problem(404, "not_found", f"There is no such address; {described} lists them."),
        405: Problem(405, "method_not_allowed", f"This address takes another method; see {described}."),
        413: TOO_LARGE,
    }
    other = Problem(error.status_code, "invalid_request", NO_JSON)
    headers = {"allow": ", ".join(_methods(request))} if error.status_code == 405 else None
    return problem_reply(problems.get(error.status_code, other), headers)


def _methods(request: Request) -> list[str]:
    """Return the methods of an address, each of which has its own route."""
    routes = (route for route in router.routes if isinstance(route, Route))
    known = (route.methods or () for route in routes if route.matches(request.scope)[0] is not Match.NONE)
    return sorted({method for methods in known for method in methods})


async def _crashed(_request: Request, error: Exception) -> Response:
    reference = uuid.uuid4().hex[:8]
    logger.error("request failed, reference %s", reference, exc_info=error)
    message = (
        "Paper Trail itself failed on this. If it happens again, tell whoever runs this server to look for "
        f"{reference} in its log."
    )
    return problem_reply(Problem(500, "internal", message))


def make_api() -> FastAPI:
    """Return the application that answers admitted API requests."""
    api = FastAPI(
        title="Paper Trail",
        version=VERSION,
        description=_DESCRIPTION,
        openapi_url=OPENAPI_PATH,
        docs_url=None,  # these pages load scripts from another host
        redoc_url=None,
        max_body_size=LARGEST_BODY,
        exception_handlers={
            AssistantError: _product_error,
            CorpusError: _product_error,
            RequestValidationError: _invalid,
            HTTPException: _http_error,
            Exception: _crashed,
        },
    )
    api.include_router(router)
    return api
