"""What learned parts add to an answer that a model wrote: the time of their steps, and memory."""

import statistics
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TypedDict

from assistant.checking import SupportReader
from assistant.learned import LearnedPart, open_follow_ups, open_support
from assistant.questions import rewrite_from_words
from assistant.records import AskOptions, Evidence
from assistant.retrieve import gather_evidence, retrieve
from corpus.encoders import Encoder
from corpus.store import Corpus

PAPERS, ROUNDS = 10, 5
LEFT_OUT = 5  # of a sentence every so many words, so that it is no quotation any more
HISTORY = (("What is dense retrieval?", ""), ("How does it compare with BM25?", "It finds other passages."))


class LearnedSteps(TypedDict):
    """Milliseconds of an answer with a claim from each of ten papers; memory of the networks in MiB."""

    follow_up_ms: float
    support_ms: float
    support_without_network_ms: float
    learned_mib: float


def measure_learned(corpus: Corpus, encoder: Encoder, questions: Sequence[str]) -> LearnedSteps:
    """Return what reading a follow-up takes, and comparing claims, with their network and without."""
    learned, follow_ups = open_support(), open_follow_ups()
    plain = replace(learned, network=None)
    given = [_evidence(corpus, encoder, question) for question in questions]
    fillings = (lambda: follow_ups.fillings("Is it fast?", HISTORY)) if follow_ups else list
    return LearnedSteps(
        follow_up_ms=_median_ms([fillings]),
        support_ms=_median_ms([_comparing(encoder, learned, one) for one in given]),
        support_without_network_ms=_median_ms([_comparing(encoder, plain, one) for one in given]),
        learned_mib=_memory_of_networks(),
    )


def _evidence(corpus: Corpus, encoder: Encoder, question: str) -> Evidence:
    return gather_evidence(
        corpus, retrieve(corpus, encoder, rewrite_from_words(question, ()), AskOptions(papers=PAPERS))
    )


def _comparing(encoder: Encoder, learned: LearnedPart, evidence: Evidence) -> Callable[[], object]:
    """Return what compares a shortened sentence of every paper with all of that paper."""
    papers = [
        [
            passage.sentence_text(index)
            for passage in paper.passages
            for index in range(len(passage.sentences))
        ]
        for paper in evidence.papers
    ]
    claims = [_shortened(max(sentences, key=len)) for sentences in papers]
    return lambda: SupportReader(encoder, learned=learned).compare(claims, papers)


def _shortened(sentence: str) -> str:
    return " ".join(word for at, word in enumerate(sentence.split(), 1) if at % LEFT_OUT)


def _median_ms(steps: Sequence[Callable[[], object]]) -> float:
    for step in steps:
        step()
    return 1000 * statistics.median(_seconds(step) for _ in range(ROUNDS) for step in steps)


def _seconds(step: Callable[[], object]) -> float:
    clock = time.perf_counter()
    step()
    return time.perf_counter() - clock


def _memory_of_networks() -> float:
    """Return the MiB that opening the networks takes, of a new process: this one holds other things."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(_opening_networks_mib).result()


def _opening_networks_mib() -> float:
    before = _resident_mib()
    opened = open_support(), open_follow_ups()
    taken = _resident_mib() - before
    del opened
    return taken


def _resident_mib() -> float:
    """Return the memory that this process holds now, 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0.0
    return int(pages) * 4096 / 1024**2
