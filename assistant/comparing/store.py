"""Comparisons that are kept, finished or not: every call from the moment it has ended."""

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import TypeAdapter
from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Index,
    Integer,
    String,
    Table,
    Text,
    delete,
    insert,
    select,
)

from assistant.comparing.records import Comparison, ComparisonError, ComparisonRequest, WorkCall
from assistant.comparing.transcript import (
    COMPARISON,
    FORMAT_VERSION,
    call_from_json,
    call_to_json,
    comparison_from_json,
    comparison_to_json,
)
from assistant.database import METADATA, Database, database_place, new_id, now, tidy_title
from assistant.file_format import record_from_json, record_to_json
from assistant.records import AssistantError, Parameters, TableVersion
from corpus.settings import Settings

State = Literal["unfinished", "finished"]

_COMPARISONS = Table(
    "comparisons",
    METADATA,
    Column("id", String(64), primary_key=True),
    Column("owner", String(255), nullable=False),
    Column("title", Text, nullable=False),
    Column("updated", String(40), nullable=False),
    Column("papers", Integer, nullable=False),
    Column("state", String(16), nullable=False),
    Column("error", Text, nullable=False),
    Column("run", String(64), nullable=False),  # who makes it now; another one who takes it up changes that
    Column("format", Integer, nullable=False),
    Column("plan", Text, nullable=False),
    Column("document", Text, nullable=False),  # "" until the comparison is finished
    Index("comparisons_of_an_owner", "owner", "updated"),
)
_CALLS = Table(
    "comparison_calls",
    METADATA,
    Column("number", Integer, primary_key=True),  # given by the database, in the order of their ends
    Column("comparison_id", ForeignKey(_COMPARISONS.c.id), nullable=False),
    Column("round", Integer, nullable=False),  # 0 for key elements, which are before all rounds
    Column("document", Text, nullable=False),
    Index("calls_of_a_comparison", "comparison_id", "round"),
)
_ROUND = re.compile(r"round (\d{1,6})\b")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Plan:
    """How a comparison was begun, as it is stored."""

    request: ComparisonRequest
    generator: str
    parameters: Parameters | None
    corpus: tuple[TableVersion, ...]


_PLANS = TypeAdapter(_Plan)


@dataclass(frozen=True, slots=True)
class StoredComparison:
    """A comparison as it was begun, on which versions of the corpus, and what became of it.

    `error` says why it ended unfinished, "" where it was stopped or never ended. `updated` is ISO 8601 in
    UTC.
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
    """A stored comparison in a list; `papers` is how many it compares."""

    id: str
    title: str
    papers: int
    state: State
    error: str
    updated: str


def open_comparisons(settings: Settings) -> "ComparisonStore":
    """Return the store that these settings name, beside the conversations; raises ComparisonError."""
    return ComparisonStore(database_place(settings))


class TakenUpError(ComparisonError):
    """Another run has the comparison by now; this one can store nothing more, and should stop."""


class ComparisonStore(Database):
    """Stored comparisons; safe for several threads and processes at once.

    Lists are per owner, but whoever knows an id can open its comparison and go on with it: the id is the key
    to it, and cannot be guessed. Whether somebody may rename, stop or delete it too, `owner_of` tells. Every
    method raises ComparisonError.
    """

    keeps = "comparisons"
    tables = (_COMPARISONS, _CALLS)
    error = ComparisonError

    def start(
        self,
        owner: str,
        request: ComparisonRequest,
        generator: str,
        parameters: Parameters | None,
        corpus: tuple[TableVersion, ...],
    ) -> StoredComparison:
        """Store how a comparison is begun, under a new id, and return that."""
        return self._insert(owner, _Plan(request, generator, parameters, corpus))

    def put(self, owner: str, comparison: Comparison) -> StoredComparison:
        """Store a finished comparison from a file and return it as stored, under a new id."""
        made = comparison.provenance
        request = ComparisonRequest(comparison.paper_ids, comparison.about, comparison.options)
        plan = _Plan(request, made.generator, comparison.parameters, made.corpus)
        return self._insert(owner, plan, comparison)

    def take(self, comparison_id: str) -> str:
        """Begin to make a comparison, or to go on with it, and return the run that has it from now on.

        A run that had it before learns of it when its next call ends: it can store nothing more.
        """
        run = new_id()
        with self._writing() as connection:
            self._change(connection, comparison_id, run=run, error="")
        return run

    def add_call(self, comparison_id: str, call: WorkCall, run: str = "") -> None:
        """Store a call that has ended; once this returns, nothing that happens to the process loses it.

        Raises ComparisonError where another than this `run` has the comparison by now.
        """
        values = {"comparison_id": comparison_id, "round": _round(call), "document": call_to_json(call)}
        with self._writing() as connection:
            self._change(connection, comparison_id, updated=now())
            self._check_run(connection, comparison_id, run)
            connection.execute(insert(_CALLS), values)

    def finish(self, comparison_id: str, comparison: Comparison, run: str = "") -> None:
        """Store a comparison that is complete; its calls are from now on those in its document.

        Raises ComparisonError where another than this `run` has it by now.
        """
        document = comparison_to_json(replace(comparison, id=comparison_id))
        with self._writing() as connection:
            changes = {"state": "finished", "error": "", "document": document, "updated": now()}
            self._change(connection, comparison_id, **changes)
            self._check_run(connection, comparison_id, run)
            connection.execute(delete(_CALLS).where(_CALLS.c.comparison_id == comparison_id))

    def fail(self, comparison_id: str, message: str, run: str = "") -> None:
        """Note why a comparison ended unfinished; what was done of it stays.

        Raises ComparisonError where another than this `run` has it by now.
        """
        with self._writing() as connection:
            self._change(connection, comparison_id, error=message, updated=now())
            self._check_run(connection, comparison_id, run)

    def drop_round(self, comparison_id: str, number: int, run: str = "") -> None:
        """Drop the calls of a round and of all later ones, so that they are made anew; 0 drops every call.

        Raises ComparisonError where another than this `run` has it by now.
        """
        with self._writing() as connection:
            self._change(connection, comparison_id, updated=now())
            self._check_run(connection, comparison_id, run)
            later = (_CALLS.c.comparison_id == comparison_id) & (_CALLS.c.round >= number)
            connection.execute(delete(_CALLS).where(later))

    def get(self, comparison_id: str) -> StoredComparison | None:
        """Return a comparison, None when there is none of that id."""
        with self._reading() as connection:
            query = select(_COMPARISONS).where(_COMPARISONS.c.id == comparison_id)
            row = connection.execute(query).mappings().one_or_none()
        return None if row is None else _stored(dict(row))

    def calls(self, comparison_id: str) -> tuple[WorkCall, ...]:
        """Return the calls of a comparison in the order of their ends; one that is damaged is left out."""
        query = select(_CALLS.c.document).where(_CALLS.c.comparison_id == comparison_id)
        with self._reading() as connection:
            documents = connection.scalars(query.order_by(_CALLS.c.number)).all()
        if documents:
            return tuple(call for document in documents if (call := _call(document)))
        stored = self.get(comparison_id)
        return stored.comparison.calls if stored and stored.comparison else ()

    def list(self, owner: str, limit: int = 50, offset: int = 0) -> tuple[ComparisonSummary, ...]:
        """Return an owner's comparisons, the one last changed first."""
        held = _COMPARISONS.c
        query = (
            select(held.id, held.title, held.papers, held.state, held.error, held.updated)
            .where(held.owner == owner)
            .order_by(held.updated.desc(), held.id)
        )
        with self._reading() as connection:
            rows = connection.execute(query.limit(limit).offset(offset)).all()
        return tuple(ComparisonSummary(*row) for row in rows)

    def _check_run(self, connection: Connection, comparison_id: str, run: str) -> None:
        """Raise ComparisonError, which takes the transaction back, where another run has the comparison."""
        has_it = connection.scalar(select(_COMPARISONS.c.run).where(_COMPARISONS.c.id == comparison_id))
        if run and has_it != run:
            raise TakenUpError(
                "This comparison has been taken up elsewhere and is being made there now. This run of it has "
                "stopped."
            )

    def _insert(self, owner: str, plan: _Plan, comparison: Comparison | None = None) -> StoredComparison:
        identifier = new_id()
        finished = comparison and replace(comparison, id=identifier)
        values = {
            "id": identifier,
            "owner": owner,
            "title": _title(plan.request),
            "updated": now(),
            "papers": len(plan.request.papers),
            "state": "finished" if finished else "unfinished",
            "error": "",
            "run": "",
            "format": FORMAT_VERSION,
            "plan": record_to_json(_PLANS, plan),
            "document": comparison_to_json(finished) if finished else "",
        }
        with self._writing() as connection:
            connection.execute(insert(_COMPARISONS), values)
            if finished:
                self._note_import(connection, identifier)
        return _stored(values)


def _stored(row: Mapping[str, Any]) -> StoredComparison:
    """Return a comparison from its row; raises ComparisonError where that is damaged."""
    if row["format"] != FORMAT_VERSION:
        raise ComparisonError(
            f"The comparison {row['id']!r} has format version {row['format']}; this version of Paper Trail "
            f"reads version {FORMAT_VERSION}."
        )
    try:
        plan = record_from_json(_PLANS, row["plan"], COMPARISON.title)
        comparison = comparison_from_json(row["document"]) if row["document"] else None
    except AssistantError as error:
        raise ComparisonError(f"The comparison {row['id']!r} cannot be read. {error}") from error
    return StoredComparison(
        id=row["id"],
        title=row["title"],
        request=plan.request,
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


def _round(call: WorkCall) -> int:
    """Return the round that a call was made in, 0 for those before the first."""
    found = _ROUND.match(call.work)
    return int(found[1]) if found else 0


def _title(request: ComparisonRequest) -> str:
    return tidy_title(request.about) or f"{len(request.papers)} papers"
