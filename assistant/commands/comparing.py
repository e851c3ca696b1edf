"""The command that compares papers."""

import os
import sys
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, NoReturn, get_args

import typer

from assistant.bounds import MOST_COLUMNS
from assistant.commands.asking import chosen_parameters
from assistant.commands.compared import comparison_json, print_comparison
from assistant.commands.exporting import format_of
from assistant.commands.opening import (
    OWNER,
    Chosen,
    Library,
    MaxTokens,
    RepetitionPenalty,
    Temperature,
    TopK,
    TopP,
    check_writable,
    chosen_of,
    corpus_at,
    open_library,
    opened_comparisons,
    write_file,
)
from assistant.commands.printing import JsonOption, err, failing, print_json, say, warn
from assistant.commands.watching import Watch
from assistant.comparing import wording as said
from assistant.comparing.admission import NO_MODEL, admit_comparison, check_applicable
from assistant.comparing.algorithm import UnusableRoundError
from assistant.comparing.choice import open_comparative_generator
from assistant.comparing.compare import Comparer
from assistant.comparing.ledger import CallLedger
from assistant.comparing.progress import ComparisonProgress
from assistant.comparing.protocol import ComparativeGenerator
from assistant.comparing.records import (
    Ablation,
    Compared,
    Comparison,
    ComparisonError,
    ComparisonOptions,
    ComparisonRequest,
    PaperOrder,
    Planned,
    TooLongError,
)
from assistant.exports.registry import OptionName, comparison_text
from assistant.generators.protocol import EXTRACTIVE, uses_model
from assistant.provenance import provenance_of
from assistant.records import AssistantError
from assistant.storage.comparisons import ComparisonStore, StoredComparison, TakenUpError
from corpus.errors import CorpusError
from corpus.store.corpus import Corpus
from corpus.store.element_cache import ElementStore
from corpus.wording import joined

_ANY_DESCRIPTION = "description"
# The exit code that a shell reports for an interrupted program.
INTERRUPTED = 130


_About = Annotated[str, typer.Option(help="What they are compared for: your topic, question or abstract.")]
_Samples = Annotated[
    int | None,
    typer.Option(help="How many samples a model writes from each summary (n_s).", show_default="2"),
]
_Votes = Annotated[
    int | None, typer.Option(help="How many votes of a model a round has (n_v).", show_default="5")
]
_Keep = Annotated[
    int | None, typer.Option(help="How many summaries of a model a round keeps (n_c).", show_default="3")
]
_QUESTION_HELP = (
    "A question of your own that each paper answers in its own sentences, a further column of the grid. "
    f"Can be repeated, {MOST_COLUMNS} times at most."
)
_Questions = Annotated[list[str] | None, typer.Option("--question", help=_QUESTION_HELP)]
_WITHOUT_HELP = "Leave a part of a model's method out: elements, increments or reflection. Can be repeated."
_Without = Annotated[list[str] | None, typer.Option(help=_WITHOUT_HELP)]
_ENDINGS = joined((f".{name}" for name in get_args(OptionName)), "or")
_TRAIL_HELP = f"Write it to this file: {_ENDINGS}. Can be repeated."
_Trails = Annotated[list[Path] | None, typer.Option(help=_TRAIL_HELP)]
_Resume = Annotated[str, typer.Option(help="Go on with this stored comparison, which was not finished.")]


@dataclass(frozen=True, slots=True)
class _Wish:
    """The requested comparison and its writer, from the options or from a stored comparison."""

    request: ComparisonRequest
    generator: str
    chosen: Chosen
    begun: StoredComparison | None = None


def compare(
    paper: Annotated[list[str] | None, typer.Argument(help="The papers to compare, by their ids.")] = None,
    *,
    about: _About = "",
    generator: Annotated[str, typer.Option(help="What compares: extractive, or a model's id.")] = EXTRACTIVE,
    samples: _Samples = None,
    votes: _Votes = None,
    keep: _Keep = None,
    order: Annotated[PaperOrder, typer.Option(help="In which order the papers come.")] = "given",
    without: _Without = None,
    question: _Questions = None,
    temperature: Temperature = None,
    top_p: TopP = None,
    top_k: TopK = None,
    max_tokens: MaxTokens = None,
    repetition_penalty: RepetitionPenalty = None,
    trail: _Trails = None,
    resume: _Resume = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether to go on.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compare papers: one cited summary, what each says to seven questions, and how it came about."""
    chosen = chosen_of(temperature, top_p, top_k, max_tokens, repetition_penalty)
    with failing(as_json=as_json):
        left_out = _left_out(without or (), paper or ())
        counts = (samples, votes, keep)
        if not uses_model(generator) and not resume and (counts != (None, None, None) or without):
            raise AssistantError(NO_MODEL)
        options = ComparisonOptions(*_with_defaults(counts), order, left_out)
        for part in () if resume else left_out:
            check_applicable(part, options, reflects=uses_model(generator))
        request = ComparisonRequest(tuple(paper or ()), about, options, tuple(question or ()))
        for path in trail or ():
            format_of(path, choosable=False)
            check_writable(path)
        with opened_comparisons() as store:
            wish = _Wish(request, generator, chosen, _begun(store, resume, request) if resume else None)
            comparison, loading = _compared(store, wish, ask=not yes, as_json=as_json)
    if as_json:
        print_json(comparison_json(comparison, loading))
    else:
        print_comparison(comparison)
    _write_trails(comparison, trail or ())


def _write_trails(comparison: Comparison, paths: Sequence[Path]) -> None:
    """Write a comparison to files, those that can be written; it stays stored in any case."""
    failed = False
    for path in paths:
        try:
            write_file(path, comparison_text(comparison, format_of(path), path.stem))
        except AssistantError as error:
            failed = True
            export = f"paper-trail export {comparison.id} -o FILE"
            message = f"{error} The comparison is kept as {comparison.id}; write it elsewhere with: {export}"
            warn(message, "red")
        else:
            say(f"Written to {path}.")
    if failed:
        raise typer.Exit(2)


def _with_defaults(counts: Sequence[int | None]) -> tuple[int, int, int]:
    """Return the numbers of samples, votes and summaries to keep, with defaults for those not given."""
    usual = ComparisonOptions()
    pairs = zip(counts, (usual.samples, usual.votes, usual.keep), strict=True)
    samples, votes, keep = (otherwise if count is None else count for count, otherwise in pairs)
    return samples, votes, keep


def _left_out(names: Sequence[str], papers: Sequence[str]) -> tuple[Ablation, ...]:
    parts: dict[str, Ablation] = {part: part for part in get_args(Ablation)}
    if names and (among := [part for part in parts if part in papers]):
        every = " ".join(f"--without {part}" for part in (*names, *among))
        raise AssistantError(
            f"{joined(map(repr, among))} was read as a paper: --without takes one part. Say: {every}"
        )
    for name in names:
        if name not in parts:
            raise AssistantError(f"There is no part {name!r} to leave out: name {joined(parts)}.")
    return tuple(parts[name] for name in names)


def _begun(store: ComparisonStore, identifier: str, wanted: ComparisonRequest) -> StoredComparison:
    """Return the comparison to resume; raises AssistantError if there is none of that id."""
    if wanted.papers or wanted.about or wanted.questions:
        raise AssistantError(
            "With --resume a comparison goes on with the papers, the description and the questions it was "
            "begun with: give none of them."
        )
    if begun := store.get(identifier):
        return begun
    raise AssistantError(
        f"There is no comparison {identifier!r}. List them with: paper-trail comparisons list"
    )


def _compared(store: ComparisonStore, wish: _Wish, *, ask: bool, as_json: bool) -> tuple[Comparison, float]:
    """Return the finished comparison, and the seconds spent on loading corpus and encoder."""
    if wish.begun and wish.begun.comparison:
        say("This comparison was finished before.")
        return wish.begun.comparison, 0.0
    library = open_library()
    generator = _generator(library, wish)
    kept = ElementStore.open(library.settings.corpus_path)
    comparer = Comparer(_corpus(library, wish.begun), library.encoder, generator, kept)
    request = wish.begun.request if wish.begun else wish.request
    planned = _planned(comparer, request)
    if not as_json:
        _print_plan(planned, generator)
        asks = ask and planned.budget.calls and somebody_is_there()
        if asks and not typer.confirm("Go on?", default=True, err=True):
            say("Nothing was asked, and nothing is kept.")
            raise typer.Exit(1)
    versions = provenance_of(comparer.corpus, generator.name, "").corpus
    begun = wish.begun or store.start(OWNER, request, generator.name, generator.parameters, versions)
    return _run(store, comparer, begun, planned, as_json=as_json), library.loading


def _corpus(library: Library, begun: StoredComparison | None) -> Corpus:
    """Return the corpus as of the beginning of a comparison, or the current one if that is gone."""
    if begun is None:
        return library.corpus
    try:
        return corpus_at(library)({entry.table: entry.version for entry in begun.corpus})
    except CorpusError:
        say(
            "The corpus has changed since this was begun and is no longer kept as it was. The comparison "
            "goes on with it as it is now; what was read from other texts is read again."
        )
        return library.corpus


def _planned(comparer: Comparer, wanted: ComparisonRequest) -> Planned:
    """Return the plan of a comparison; raises AssistantError that lists every fault of the request."""
    try:
        return comparer.plan(wanted)
    except ComparisonError as error:
        # A check stops at the first fault; further ones are found with that corrected.
        described = replace(wanted, about=_ANY_DESCRIPTION)
        faults = [str(error)]
        for request in (described, replace(described, options=ComparisonOptions())):
            try:
                admit_comparison(request, comparer.corpus)
            except ComparisonError as another:
                faults.append(str(another))
        raise AssistantError(" ".join(dict.fromkeys(faults))) from error


def _generator(library: Library, wish: _Wish) -> ComparativeGenerator:
    settings, begun = library.settings, wish.begun
    if begun:
        return open_comparative_generator(begun.generator, settings, library.encoder, begun.parameters)
    parameters = chosen_parameters(settings, wish.generator, wish.chosen)
    return open_comparative_generator(wish.generator, settings, library.encoder, parameters)


def _print_plan(planned: Planned, generator: ComparativeGenerator) -> None:
    """Print the papers and the budget of a comparison."""
    for labelled in planned.papers:
        say(f"[{labelled.label}] {labelled.paper.title} {labelled.paper.id}")
    for remark in planned.remarks:
        warn(remark)
    if reused := said.describe_reuse(planned):
        say(reused)
    say(f"Compared by {generator.label}. {said.describe_budget(planned.budget)}")


def somebody_is_there() -> bool:
    """Return True if the command runs in an interactive terminal."""
    return sys.stdin.isatty() and err.is_terminal


def _run(
    store: ComparisonStore, comparer: Comparer, begun: StoredComparison, planned: Planned, *, as_json: bool
) -> Comparison:
    """Return the comparison once it is complete; every call is stored as soon as it has ended."""
    identifier = begun.id
    run = store.take(identifier)
    ledger = CallLedger(store.calls(identifier), keep=lambda call: store.add_call(identifier, call, run))
    # Closing the events cancels the comparison.
    events = comparer.compare(begun.request, ledger, identifier)
    if not as_json:
        say(f"Kept as comparison {identifier}. Stop it with Ctrl+C: what is done is kept.")
    try:
        with closing(events), Watch(err, ComparisonProgress(planned), quiet=as_json) as watch:
            for event in events:
                if isinstance(event, Compared):
                    store.finish(identifier, event.comparison, run)
                    return event.comparison
                watch.show(event)
    except KeyboardInterrupt:
        _say_stopped(identifier, "Stopped.", as_json)
        _leave()
    except TakenUpError:
        raise
    except (AssistantError, CorpusError) as error:
        if isinstance(error, UnusableRoundError):
            store.drop_round(identifier, error.round, run)
        why = error.fault if isinstance(error, AssistantError) else str(error)
        store.fail(identifier, why, run)
        _say_stopped(identifier, why, as_json, can_go_on=not isinstance(error, TooLongError))
        raise typer.Exit(2) from error
    raise AssistantError("The comparison was not completed. Go on with it.")


def _say_stopped(identifier: str, why: str, as_json: bool, *, can_go_on: bool = True) -> None:
    """Print why a comparison is not finished, and how to resume it if that helps."""
    message = f"{why} What is done is kept."
    if can_go_on:
        message += f" Go on with: paper-trail compare --resume {identifier}"
    if as_json:
        print_json({"id": identifier, "error": message})
    warn(message, "red")


def _leave() -> NoReturn:
    """Exit at once: Python would wait for running calls, which may take a minute."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(INTERRUPTED)
