"""Extraction of the key elements of the description and the papers, and their evidence."""

from collections.abc import Generator as Iteration
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from pydantic import TypeAdapter

from assistant.comparing.algorithm import working
from assistant.comparing.checking import SummaryChecker
from assistant.comparing.ledger import CallLedger, Executor, Task, asked_or_tick
from assistant.comparing.protocol import ComparativeGenerator, SourceText
from assistant.comparing.records import (
    ELEMENT_NAMES,
    ComparisonEvent,
    Extracted,
    KeyElement,
    KeyElements,
    WorkCall,
    task_name,
)
from assistant.file_format import record_from_json, record_to_json
from assistant.models.protocol import BadReplyError
from assistant.records import AssistantError, ElementName
from corpus.store.element_cache import ElementKey, ElementStore
from corpus.text import storable

Texts = Mapping[ElementName, str]


@dataclass(frozen=True, slots=True)
class KeptElements:
    """Key elements of an earlier comparison, and its calls for them."""

    elements: KeyElements
    calls: tuple[WorkCall, ...]


class KeyElementExtractor:
    """Extracts key elements, or takes those of earlier comparisons."""

    def __init__(self, generator: ComparativeGenerator, kept: ElementStore | None) -> None:
        self._generator = generator
        self._store = kept

    def kept(self, sources: Sequence[SourceText], ledger: CallLedger) -> dict[int, KeptElements]:
        """Return the stored key elements of these papers by label, except those in the ledger."""
        papers = [
            source
            for source in sources
            if source.label and not ledger.recorded(task_name("elements", source.label))
        ]
        keys = {self._key(source): source.label for source in papers}
        documents = self._store.get(list(keys)) if self._store else {}
        read = {keys[key]: kept_from_json(document) for key, document in documents.items()}
        return {label: _relabelled(label, *source) for label, source in sorted(read.items()) if source}

    def extract(
        self,
        sources: Sequence[SourceText],
        kept: Mapping[int, KeptElements],
        executor: Executor,
        ledger: CallLedger,
    ) -> Iteration[ComparisonEvent, None, dict[int, KeyElements]]:
        """Yield elements as they are extracted, then return them by label, without evidence.

        Elements that no reply gives in a usable form have a `problem`. Raises ModelError.
        """
        elements: dict[int, KeyElements] = {}
        for label, entry in kept.items():
            ledger.reuse(entry.calls)
            elements[label] = entry.elements
            yield Extracted(entry.elements)
        missing = [source for source in sources if source.label not in elements]
        begin = {source: partial(self._ask, source, executor, ledger) for source in missing}
        for ended in asked_or_tick(begin):
            if ended is None:
                yield working(ledger)
                continue
            source, future = ended
            elements[source.label] = self._extracted(source, future, ledger)
            yield Extracted(elements[source.label])
        return elements

    def _ask(self, source: SourceText, executor: Executor, ledger: CallLedger) -> "Future[Texts]":
        task = Task(task_name("elements", source.label), ledger, executor.stopped)
        return executor.ask(lambda: self._generator.extract_key_elements(source, task))

    def _extracted(self, source: SourceText, future: "Future[Texts]", ledger: CallLedger) -> KeyElements:
        written = datetime.now(UTC).isoformat(timespec="milliseconds")
        try:
            texts = future.result()
        except BadReplyError as error:
            return KeyElements(source.label, source.kind, (), str(error), written)
        read = tuple(
            KeyElement(name, " ".join(storable(texts.get(name, "")).split())) for name in ELEMENT_NAMES
        )
        elements = KeyElements(source.label, source.kind, read, written=written)
        if self._store and source.label:
            calls = tuple(
                entry for entry in ledger.calls if entry.work == task_name("elements", source.label)
            )
            self._store.put({self._key(source): kept_to_json(elements, calls)})
        return elements

    def _key(self, source: SourceText) -> ElementKey:
        paper = source.paper.paper
        return ElementKey(paper.id, paper.fingerprint, self._generator.name, self._generator.elements_version)


def with_evidence(elements: Mapping[int, KeyElements], checker: SummaryChecker) -> tuple[KeyElements, ...]:
    """Return key elements by label, each with its supporting sentences."""
    result = []
    for label, known in sorted(elements.items()):
        texts = {item.name: item.text for item in known.elements}
        result.append(replace(known, elements=checker.elements(label, texts)) if texts else known)
    return tuple(result)


def _relabelled(label: int, elements: KeyElements, calls: Sequence[WorkCall]) -> KeptElements:
    reused = tuple(WorkCall(task_name("elements", label), entry.call, reused=True) for entry in calls)
    return KeptElements(replace(elements, label=label), reused)


_kept = TypeAdapter(tuple[KeyElements, tuple[WorkCall, ...]])


def kept_to_json(elements: KeyElements, calls: tuple[WorkCall, ...]) -> str:
    """Return key elements and their calls as JSON for later comparisons of the paper."""
    return record_to_json(_kept, (elements, calls))


def kept_from_json(text: str) -> tuple[KeyElements, tuple[WorkCall, ...]] | None:
    """Read stored key elements, None if they are damaged: they are then extracted again."""
    try:
        return record_from_json(_kept, text, "comparison")
    except AssistantError:
        return None
