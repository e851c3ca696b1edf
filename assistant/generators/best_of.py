"""Several drafts of one answer, and the one whose citations check out best (ALCE, section 3)."""

import threading
from collections.abc import Callable
from collections.abc import Generator as Iteration
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import dataclass

from assistant.generators.protocol import Generator
from assistant.models.protocol import ModelError
from assistant.records import Answer, CallLog, Draft

MOST_DRAFTS = 8
LOOK_AGAIN_SECONDS = 0.1

# Begins a draft, logging its calls.
Begin = Callable[[Generator, CallLog], Iteration[str, None, Draft]]


@dataclass(frozen=True, slots=True)
class _Finished:
    draft: Draft
    log: CallLog


def citation_quality(answer: Answer) -> tuple[float, float, int]:
    """Return a sort key for the quality of an answer's citations: greater is better.

    Compared are recall plus precision of the citations, then the mean support of the claims, then the number
    of problems of the draft. A refusal ranks between answers with supported citations and those without.
    """
    faults = -len(answer.problems)
    if answer.refusal:
        return 0.0, 1.0, faults
    cited = [citation for sentence in answer.sentences for citation in sentence.citations]
    if not cited:
        return 0.0, 0.0, faults
    likeness = sum(
        (citation.overlap or 0.0) if citation.support is None else citation.support for citation in cited
    ) / len(cited)
    if answer.citation_recall is None:
        citing = sum(bool(sentence.citations) for sentence in answer.sentences)
        return citing / len(answer.sentences), likeness, faults
    return answer.citation_recall + (answer.citation_precision or 0.0), likeness, faults


def write_best(
    generator: Generator, count: int, begin: Begin, check: Callable[[Draft], Answer], log: CallLog
) -> Iteration[str, None, Draft]:
    """Write `count` drafts in parallel and return the one with the best answer; all calls are logged.

    Yields empty pieces while waiting, so that it can be stopped, and the best draft at the end. Failed drafts
    do not count, nor interrupted or filtered ones if another is complete. Raises ModelError if all fail.
    """
    sampled, stopped = generator.for_sampling(), threading.Event()
    # Not in a `with` block, which would wait for the drafts after a stop: they end at their next piece.
    pool = ThreadPoolExecutor(count, thread_name_prefix="draft")
    try:
        drafts = [pool.submit(_write_one, sampled, begin, stopped) for _ in range(count)]
        waiting = set(drafts)
        while waiting:
            _, waiting = wait(waiting, LOOK_AGAIN_SECONDS, FIRST_COMPLETED)
            yield ""
    finally:
        stopped.set()
        pool.shutdown(wait=False)
    written = _succeeded(drafts)
    for sample in written:
        for call in sample.log.calls:
            log.add(call)
    cut = ("interrupted", "content_filter")
    complete = [sample.draft for sample in written if sample.draft.finish_reason not in cut]
    candidates = complete or [sample.draft for sample in written]
    best = max(candidates, key=lambda draft: citation_quality(check(draft)))
    yield best.text
    return best


def _write_one(generator: Generator, begin: Begin, stopped: threading.Event) -> _Finished | None:
    """Return a complete draft, None if stopped before."""
    log = CallLog()
    with closing(begin(generator, log)) as pieces:
        while not stopped.is_set():
            try:
                next(pieces)
            except StopIteration as end:
                return _Finished(end.value, log)
    return None


def _succeeded(drafts: list[Future[_Finished | None]]) -> list[_Finished]:
    """Return the drafts that succeeded, in order; raises the first error if none did."""
    written: list[_Finished] = []
    errors: list[ModelError] = []
    for draft in drafts:
        try:
            done = draft.result()
        except ModelError as error:
            errors.append(error)
        else:
            written += [done] if done else []
    if not written:
        raise errors[0]
    return written
