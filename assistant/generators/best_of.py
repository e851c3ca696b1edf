"""Several drafts of one answer, and the one whose citations check out best (ALCE, section 3)."""

import threading
from collections.abc import Callable, Iterator
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

    First recall and precision of its citations, then how like their evidence its claims are, then how little
    was wrong with the draft. A refusal is better than an answer of which nothing holds, worse than others.
    """
    faults = -len(answer.problems)
    if answer.refusal:
        return 0.0, 1.0, faults
    cited = [citation for sentence in answer.sentences for citation in sentence.citations]
    if not cited:
        return 0.0, 0.0, faults
    likeness = sum((one.overlap or 0.0) if one.support is None else one.support for one in cited) / len(cited)
    if answer.citation_recall is None:
        citing = sum(bool(sentence.citations) for sentence in answer.sentences)
        return citing / len(answer.sentences), likeness, faults
    return answer.citation_recall + (answer.citation_precision or 0.0), likeness, faults


def write_best(
    generator: Generator, count: int, begin: Begin, check: Callable[[Draft], Answer], log: CallLog
) -> Iteration[str, None, Draft]:
    """Write `count` drafts at once and return that with the best answer; the calls of all are logged.

    Yields empty pieces while it waits, so that it can be stopped, and the best draft whole at the end. Drafts
    that fail do not count, nor do interrupted or filtered ones beside whole ones; raises ModelError where all
    fail.
    """
    sampled, stopped = generator.for_sampling(), threading.Event()
    # Not in a `with` block: who stops need not wait for the drafts, which end at their next piece.
    pool = ThreadPoolExecutor(count, thread_name_prefix="draft")
    try:
        drafts = [pool.submit(_write_one, sampled, begin, stopped) for _ in range(count)]
        yield from _waiting(drafts)
    finally:
        stopped.set()
        pool.shutdown(wait=False)
    written = _succeeded(drafts)
    for one in written:
        for call in one.log.calls:
            log.add(call)
    cut = ("interrupted", "content_filter")
    complete = [sample.draft for sample in written if sample.draft.finish_reason not in cut]
    candidates = complete or [sample.draft for sample in written]
    best = max(candidates, key=lambda draft: citation_quality(check(draft)))
    yield best.text
    return best


def _write_one(generator: Generator, begin: Begin, stopped: threading.Event) -> _Finished | None:
    """Return a whole draft, None when it is stopped before."""
    log = CallLog()
    with closing(begin(generator, log)) as pieces:
        while not stopped.is_set():
            try:
                next(pieces)
            except StopIteration as end:
                return _Finished(end.value, log)
    return None


def _waiting(drafts: list[Future[_Finished | None]]) -> Iterator[str]:
    """Yield an empty piece every now and then until all drafts have ended."""
    waiting = set(drafts)
    while waiting:
        _, waiting = wait(waiting, LOOK_AGAIN_SECONDS, FIRST_COMPLETED)
        yield ""


def _succeeded(drafts: list[Future[_Finished | None]]) -> list[_Finished]:
    """Return the drafts that were written, in order; raises the first one's error where none was."""
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
