"""Key elements of the description and the papers, extracted all at once and led to what carries them."""

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
    """Key elements from an earlier comparison, and the calls that it made for them."""

    elements: KeyElements
    calls: tuple[WorkCall, ...]


class KeyElementExtractor:
    """Extracts the key elements of texts, those that no earlier comparison has extracted."""

    def __init__(self, generator: ComparativeGenerator, kept: ElementStore | None) -> None:
        self._generator = generator
        self._store = kept

    def kept(self, sources: Sequence[SourceText], ledger: CallLedger) -> dict[int, KeptElements]:
        """Return the stored key elements of earlier comparisons for these papers, by label.

        What this one asked for itself before it stopped is in its ledger, and its own.
        """
        papers = [
            one for one in sources if one.label and not ledger.recorded(task_name("elements", one.label))
        ]
        keys = {self._key(source): source.label for source in papers}
        found = self._store.get(list(keys)) if self._store else {}
        read = {keys[key]: kept_from_json(document) for key, document in found.items()}
        return {label: _relabelled(label, *one) for label, one in sorted(read.items()) if one}

    def extract(
        self,
        sources: Sequence[SourceText],
        kept: Mapping[int, KeptElements],
        executor: Executor,
        ledger: CallLedger,
    ) -> Iteration[ComparisonEvent, None, dict[int, KeyElements]]:
        """Yield elements as they are known, then return them by label, without evidence; raises ModelError.

        A text whose elements a model could not give in a usable form goes without, and says why.
        """
        elements: dict[int, KeyElements] = {}
        for label, one in kept.items():
            ledger.reuse(one.calls)
            elements[label] = one.elements
            yield Extracted(one.elements)
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
        found = tuple(KeyElement(name, _one_line(texts.get(name, ""))) for name in ELEMENT_NAMES)
        elements = KeyElements(source.label, source.kind, found, written=written)
        self._keep(source, elements, ledger)
        return elements

    def _keep(self, source: SourceText, elements: KeyElements, ledger: CallLedger) -> None:
        if self._store and source.label:
            calls = tuple(one for one in ledger.calls if one.work == task_name("elements", source.label))
            self._store.put({self._key(source): kept_to_json(elements, calls)})

    def _key(self, source: SourceText) -> ElementKey:
        paper = source.paper.paper
        return ElementKey(paper.id, paper.fingerprint, self._generator.name, self._generator.elements_version)


def with_evidence(elements: Mapping[int, KeyElements], checker: SummaryChecker) -> tuple[KeyElements, ...]:
    """Return key elements in the order of their labels, each led to the sentences that carry it, scored."""
    return tuple(
        replace(one, elements=checker.elements(label, {item.name: item.text for item in one.elements}))
        if one.elements
        else one
        for label, one in sorted(elements.items())
    )


def _relabelled(label: int, elements: KeyElements, calls: Sequence[WorkCall]) -> KeptElements:
    reused = tuple(WorkCall(task_name("elements", label), one.call, reused=True) for one in calls)
    return KeptElements(replace(elements, label=label), reused)


def _one_line(text: str) -> str:
    return " ".join(storable(text).split())


_kept = TypeAdapter(tuple[KeyElements, tuple[WorkCall, ...]])


def kept_to_json(elements: KeyElements, calls: tuple[WorkCall, ...]) -> str:
    """Return key elements and the calls that they took, for the next comparison of their paper."""
    return record_to_json(_kept, (elements, calls))


def kept_from_json(text: str) -> tuple[KeyElements, tuple[WorkCall, ...]] | None:
    """Read key elements back, None where they are damaged: they are then extracted anew."""
    try:
        return record_from_json(_kept, text, "comparison")
    except AssistantError:
        return None
