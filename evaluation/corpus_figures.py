"""Figures of any corpus without labels: known items found, refusals, and stability under rewording."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from corpus import VERSION
from corpus.errors import CorpusError
from corpus.measured import MeasuredCorpus, Share, write_measured
from corpus.settings import read_settings
from corpus.store.manifest import read_manifest
from evaluation.answers.refusal import measure_refusal
from evaluation.answers.wordings import measure_wordings
from evaluation.harness import Report, command, table
from evaluation.input_files import EvaluationError, home_of
from evaluation.known_items import measure_known_items

SEED = 1
# Kinds of `known-items`, as the About page names them.
_LOOKED_FOR = {
    "title": "papers found first by their titles",
    "three rare title words": "papers found first by three words of their titles",
    "three rare title words, one typo": "the same with a typo",
    "system name": "papers found first by the name they begin with",
    "author": "papers of an author found first by the full name",
}


@dataclass(frozen=True, slots=True)
class CorpusReport:
    """The shares that could be measured, and why others could not."""

    measured: MeasuredCorpus
    left_out: tuple[str, ...]


def measure_corpus(home: Path | None, most: int, command_line: str) -> CorpusReport:
    """Measure a corpus with at most `most` questions of each kind, and keep the figures in its home.

    Raises CorpusError, and EvaluationError if nothing can be measured.
    """
    folder = home_of(home) if home else read_settings().home
    settings = read_settings().model_copy(update={"home": folder})
    manifest = read_manifest(settings.corpus_path)
    shares: list[Share] = []
    left_out: list[str] = []
    measures: tuple[Callable[[Path, int], Iterator[Share]], ...] = (_found, _refused, _worded)
    for measure in measures:
        try:
            shares += measure(folder, most)
        except EvaluationError as error:
            left_out.append(str(error))
    if not shares:
        raise EvaluationError(" ".join(left_out))
    if read_manifest(settings.corpus_path) != manifest:
        raise CorpusError("The corpus has changed while it was measured. Measure it again.")
    measured = MeasuredCorpus(
        shares=tuple(shares),
        versions=dict(manifest.versions),
        encoder_sha256=manifest.encoder_sha256,
        date=datetime.now(UTC).date().isoformat(),
        product=f"Paper Trail {VERSION}",
        command=command_line,
    )
    write_measured(settings.measured_path, measured)
    return CorpusReport(measured, tuple(left_out))


def _found(home: Path, most: int) -> Iterator[Share]:
    found = measure_known_items(home, most, SEED)
    for kind, counted in _LOOKED_FOR.items():
        if figures := found.get(kind):
            yield Share(counted, figures["first"], figures["queries"])


def _refused(home: Path, most: int) -> Iterator[Share]:  # noqa: ARG001
    figures = measure_refusal(home)
    counts = figures["counts"]
    if of := counts["unanswerable"]:
        yield Share("questions to other papers refused", figures["refusal_recall"], of)
    if of := counts["answerable"]:
        what = "questions that these papers answer refused"
        yield Share(what, figures["false_refusals"], of, is_good=False)


def _worded(home: Path, most: int) -> Iterator[Share]:
    figures = measure_wordings(home, most)
    if of := figures["topics"]:
        yield Share("papers cited alike when asked in other words", figures["same_papers"], of)
        yield Share("answers that cite the paper found first", figures["best_cited"], of)
    if of := figures["near_misses"]:
        what = "questions about what is never said of a system refused"
        yield Share(what, figures["near_misses_refused"], of)


@command("corpus")
def corpus(home: Path | None = None, most: int = 100) -> Report:
    # The home is left out of the command: it is a path of this machine.
    report = measure_corpus(home, most, f"paper-trail eval corpus --most {most}")
    rows = [(share.counted, f"{share.share:.3f}", f"{share.of:,}") for share in report.measured.shares]
    return Report(report, [table(("Share of", "", "of"), rows, caption="\n".join(report.left_out))])
