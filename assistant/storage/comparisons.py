"""Stored comparisons, finished or not, with every call as soon as it has ended."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import sqlalchemy as sa
from pydantic import TypeAdapter

from assistant.comparing.records import (
    Comparison,
    ComparisonError,
    ComparisonOptions,
    ComparisonRequest,
    WorkCall,
)
from assistant.file_format import record_from_json, record_to_json
from assistant.generators.protocol import uses_model
from assistant.records import AssistantError, Parameters, TableVersion
from assistant.storage.library_links import check_library, noting
from assistant.storage.owned import OwnedStore, new_id, now, tidy_title
from assistant.storage.schema import METADATA, table_of_wholes
from assistant.trail.comparison_file import (
    COMPARISON,
    COMPARISON_VERSION,
    call_from_json,
    call_to_json,
    comparison_from_json,
    comparison_to_json,
)
from assistant.trail.papers_named import library_named

State = Literal["unfinished", "finished"]
LONGEST_ERROR = 2_000

_COMPARISONS = table_of_wholes(
    "comparisons",
    sa.Column("papers", sa.Integer, nullable=False),
    sa.Column("state", sa.String(16), nullable=False),
    sa.Column("error", sa.Text, nullable=False),
    # The run that may write to it.
    sa.Column("run", sa.String(64), nullable=False),
    sa.Column("format", sa.Integer, nullable=False),
    sa.Column("plan", sa.Text, nullable=False),
    sa.Column("document", sa.Text, nullable=False),  # "" until the comparison is finished
)
_CALLS = sa.Table(
    "comparison_calls",
    METADATA,
    sa.Column("number", sa.Integer, primary_key=True),  # given by the database, in the order of their ends
    sa.Column("comparison_id", sa.ForeignKey(_COMPARISONS.c.id), nullable=False),
    sa.Column("round", sa.Integer, nullable=False),  # 0 for key elements, which are before all rounds
    sa.Column("document", sa.Text, nullable=False),
    sa.Index("calls_of_a_comparison", "comparison_id", "round"),
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Plan:
    """The request and writer of a comparison, as they are stored."""

    request: ComparisonRequest
    generator: str
    parameters: Parameters | None
    corpus: tuple[TableVersion, ...]


_PLANS = TypeAdapter(_Plan)


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """A stored comparison: its request, writer and corpus versions, and its state.

    `error` is the reason of a failure, "" if it was stopped or is running. `updated` is ISO 8601 in UTC.
    """

    id: str
    title: str
    request: ComparisonRequest
    generator: str
    parameters: Parameters | None
    corpus: tuple[TableVersion, ...]
    state: State
    error: str
    updated: str
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class ComparisonSummary:
    """A stored comparison in a list; `papers` is their number."""

    id: str
    title: str
    papers: int
    state: State
    error: str
    updated: str


class TakenUpError(ComparisonError):
    """Another run has taken the comparison; this one can store nothing more, and should stop."""


class ComparisonStore(OwnedStore[ComparisonSummary]):
    """Stored comparisons; every method raises ComparisonError.

    Methods with a `run` raise TakenUpError if another run has taken the comparison.
    """

    keeps = "comparisons"
    tables = (_COMPARISONS, _CALLS)
    error = ComparisonError
    summary = ComparisonSummary
    listing = sa.select(*(_COMPARISONS.c[field.name] for field in fields(ComparisonSummary)))

    def start(
        self,
        owner: str,
        request: ComparisonRequest,
        generator: str,
        parameters: Parameters | None,
        corpus: tuple[TableVersion, ...],
        *,
        library: str = "",
    ) -> StoredComparison:
        """Store a new comparison, maybe over a kept library, and return it with its id."""
        return self._begun(owner, _Plan(request, generator, parameters, corpus), library=library)

    def put(self, owner: str, comparison: Comparison, library: str = "") -> StoredComparison:
        """Store a finished comparison from a file, maybe over a kept library, and return it under a new id.

        Raises AssistantError for a file that is over another library.
        """
        check_library(library_named(comparison), library)
        made = comparison.provenance
        asked = tuple(column.question for column in comparison.columns)
        request = ComparisonRequest(comparison.paper_ids, comparison.about, comparison.options, asked)
        plan = _Plan(request, made.generator, comparison.parameters, made.corpus)
        return self._begun(owner, plan, comparison, library)

    def take(self, comparison_id: str) -> str:
        """Take a comparison for a new run and return the run's id; an earlier run can store nothing more."""
        run = new_id()
        with self._changing(comparison_id, grows=False, run=run, error=""):
            return run

    def add_call(self, comparison_id: str, call: WorkCall, run: str = "", by: Sequence[str] = ()) -> None:
        """Store a call that has ended; `by` are all names of the one who runs it, none for the owner."""
        values = {"comparison_id": comparison_id, "round": call.round, "document": call_to_json(call)}
        with self._running(comparison_id, run, by=by) as connection:
            connection.execute(sa.insert(_CALLS), values)

    def finish(
        self, comparison_id: str, comparison: Comparison, run: str = "", by: Sequence[str] = ()
    ) -> None:
        """Store a complete comparison, whose document includes its calls."""
        document = comparison_to_json(replace(comparison, id=comparison_id))
        changes = {"state": "finished", "error": "", "document": document}
        with self._running(comparison_id, run, by=by, **changes) as connection:
            connection.execute(sa.delete(_CALLS).where(_CALLS.c.comparison_id == comparison_id))

    def fail(self, comparison_id: str, message: str, run: str = "") -> None:
        """Record why a comparison failed; its calls are kept."""
        with self._running(comparison_id, run, grows=False, error=message[:LONGEST_ERROR]):
            pass

    def drop_round(self, comparison_id: str, number: int, run: str = "") -> None:
        """Delete the calls of a round and all later ones, so that they are made again; 0 deletes all."""
        with self._running(comparison_id, run, grows=False) as connection:
            later = (_CALLS.c.comparison_id == comparison_id) & (_CALLS.c.round >= number)
            connection.execute(sa.delete(_CALLS).where(later))

    @contextmanager
    def _running(self, comparison_id: str, run: str, **changes: Any) -> Iterator[sa.Connection]:
        """Change a comparison; raises TakenUpError, which rolls back, if another run has taken it."""
        with self._changing(comparison_id, updated=now(), **changes) as connection:
            query = sa.select(_COMPARISONS.c.run).where(_COMPARISONS.c.id == comparison_id)
            if run and connection.scalar(query) != run:
                raise TakenUpError(
                    "This comparison has been taken up elsewhere and is being made there now. This run of it "
                    "has stopped."
                )
            yield connection

    def get(self, comparison_id: str) -> StoredComparison | None:
        """Return a comparison, None if there is no such comparison."""
        with self._reading() as connection:
            query = sa.select(_COMPARISONS).where(_COMPARISONS.c.id == comparison_id)
            row = connection.execute(query).mappings().one_or_none()
        return None if row is None else _stored(dict(row))

    def calls(self, comparison_id: str) -> tuple[WorkCall, ...]:
        """Return the calls of a comparison in the order of their ends, without damaged ones."""
        query = sa.select(_CALLS.c.document).where(_CALLS.c.comparison_id == comparison_id)
        with self._reading() as connection:
            documents = connection.scalars(query.order_by(_CALLS.c.number)).all()
        if documents:
            return tuple(call for document in documents if (call := _call(document)))
        stored = self.get(comparison_id)
        return stored.comparison.calls if stored and stored.comparison else ()

    def _begun(
        self, owner: str, plan: _Plan, comparison: Comparison | None = None, library: str = ""
    ) -> StoredComparison:
        identifier = new_id()
        finished = comparison and replace(comparison, id=identifier)
        values = {
            "id": identifier,
            "owner": owner,
            "title": tidy_title(plan.request.about) or f"{len(plan.request.papers)} papers",
            "updated": now(),
            "papers": len(plan.request.papers),
            "state": "finished" if finished else "unfinished",
            "error": "",
            "run": "",
            "format": COMPARISON_VERSION,
            "plan": record_to_json(_PLANS, plan),
            "document": comparison_to_json(finished) if finished else "",
        }
        # Parsed before it is written, so that only readable rows are stored.
        stored = _stored(values)
        note = noting(identifier, library, ComparisonError)
        self._insert(values, from_file=finished is not None, note=note)
        return stored


def _stored(row: Mapping[str, Any]) -> StoredComparison:
    """Return a comparison from its row; raises ComparisonError if that is damaged."""
    if row["format"] != COMPARISON_VERSION:
        raise ComparisonError(
            f"The comparison {row['id']!r} has format version {row['format']}; this version of Paper Trail "
            f"reads version {COMPARISON_VERSION}."
        )
    try:
        plan = record_from_json(_PLANS, row["plan"], COMPARISON.title)
        comparison = comparison_from_json(row["document"]) if row["document"] else None
    except AssistantError as error:
        raise ComparisonError(f"The comparison {row['id']!r} cannot be read. {error}") from error
    request = plan.request
    if comparison is None and not uses_model(plan.generator):
        # One begun by a version that voted without a model continues in one pass.
        request = replace(request, options=ComparisonOptions(order=request.options.order))
    return StoredComparison(
        id=row["id"],
        title=row["title"],
        request=request,
        generator=plan.generator,
        parameters=plan.parameters,
        corpus=plan.corpus,
        state=row["state"],
        error=row["error"],
        updated=row["updated"],
        comparison=comparison,
    )


def _call(document: str) -> WorkCall | None:
    try:
        return call_from_json(document)
    except AssistantError as error:
        logger.warning("a stored call is left out, and will be made again: %s", error)
        return None
