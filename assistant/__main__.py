"""The assistant's command line: ask from the terminal."""

import gc
import json
import textwrap
import time
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.markup import escape

from assistant.attribution import overlap_word
from assistant.chat import Assistant
from assistant.generators.choice import open_generator
from assistant.records import (
    Answered,
    AskOptions,
    AssistantError,
    Conversation,
    Retrieved,
    Rewritten,
    Turn,
)
from assistant.transcript import to_json, to_markdown
from corpus.encoder_choice import open_encoder
from corpus.errors import CorpusError
from corpus.records import Scope
from corpus.search import DEFAULT_PAPERS
from corpus.settings import read_settings
from corpus.store import Corpus

app = typer.Typer(
    help="Ask the corpus.", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)
out, err = Console(highlight=False), Console(stderr=True, highlight=False)


@app.callback()
def main() -> None:
    """Ask the corpus."""


@app.command()
def ask(
    question: str,
    *,
    collection: Annotated[list[str] | None, typer.Option(help="Search only this collection.")] = None,
    papers: Annotated[int, typer.Option(help="How many papers to answer from, 1 to 15.")] = DEFAULT_PAPERS,
    generator: Annotated[str, typer.Option(help="What writes: extractive, or a model's id.")] = "extractive",
    trail: Annotated[
        Path | None, typer.Option(help="Write the whole trail to this file, .json or .md.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the answer as one JSON document.")] = False,
) -> None:
    """Answer a question from the corpus, every sentence cited and scored."""
    options = AskOptions(Scope(collections=tuple(collection or ())), papers)
    try:
        if trail:
            _check_trail(trail)
        turn, loading = _ask(question, options, generator, quiet=as_json)
        if trail:
            _write_trail(turn, trail)
    except (AssistantError, CorpusError) as error:
        _fail(error, as_json)
    if as_json:
        typer.echo(json.dumps(turn_json(turn, loading), ensure_ascii=False))
    else:
        _print_turn(turn)


def _ask(question: str, options: AskOptions, generator: str, *, quiet: bool) -> tuple[Turn, float]:
    """Return the answered turn, and the seconds it took to load what answers."""
    settings = read_settings()
    clock = time.perf_counter()
    encoder = open_encoder(settings)
    corpus = Corpus.open(settings.corpus_path, encoder)
    encoder.load()
    loading = time.perf_counter() - clock
    assistant = Assistant(corpus, encoder, open_generator(generator, settings, encoder))
    for event in assistant.ask(question, (), options):
        match event:
            case Rewritten(rewrite) if not quiet:
                err.print(f"Searched for: {rewrite.search_query}", markup=False, style="dim")
            case Retrieved(found) if not quiet:
                passages = sum(len(paper.hits) for paper in found)
                err.print(f"Found {len(found)} papers, {passages} passages", style="dim")
            case Answered(turn):
                return turn, loading
    raise AssistantError("The answer was not completed. Ask again.")


def _check_trail(path: Path) -> None:
    """Raise AssistantError before anything is asked where the trail could not be written afterwards."""
    if path.suffix.lower() not in (".json", ".md"):
        raise AssistantError(f"The trail is written as .json or .md, not as {path.suffix or path.name!r}.")
    if path.is_dir() or not path.parent.is_dir():
        raise AssistantError(f"The trail cannot be written to {path}: give a file in a folder that exists.")


def _write_trail(turn: Turn, path: Path) -> None:
    conversation = Conversation(id="terminal", title=turn.question, turns=(turn,))
    text = to_markdown(conversation) if path.suffix.lower() == ".md" else to_json(conversation)
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise AssistantError(f"The trail cannot be written to {path}: {error.strerror}.") from error


def turn_json(turn: Turn, loading: float) -> dict[str, Any]:
    """Return a turn as the terminal's JSON: what was found, the answer, and how each sentence is carried.

    `loading` is the seconds spent on opening corpus and encoder, before the question was taken.
    """
    refusal = turn.answer.refusal
    return {
        "question": turn.question,
        "search_query": turn.rewrite.search_query,
        "papers": [
            {"id": item.paper.id, "label": item.label, "title": item.paper.title}
            for item in turn.evidence.papers
        ],
        "answer": turn.answer.text,
        "sentences": [
            {
                "text": turn.answer.text[item.start : item.end].strip(),
                "labels": list(item.labels),
                "unknown_labels": list(item.unknown_labels),
                "citations": [
                    {
                        "label": citation.label,
                        "passage": citation.passage_id,
                        "evidence": citation.evidence,
                        "overlap": round(citation.overlap, 4),
                        "support": citation.support,
                    }
                    for citation in item.citations
                ],
            }
            for item in turn.answer.sentences
        ],
        "refusal": refusal
        and {
            "reason": refusal.reason,
            "message": refusal.message,
            "nearest": [
                {"passage": item.passage_id, "paper": item.paper_id, "title": item.title, "text": item.text}
                for item in refusal.nearest
            ],
        },
        "seconds": {"load": round(loading, 4)} | {step.step: round(step.seconds, 4) for step in turn.seconds},
    }


def _print_turn(turn: Turn) -> None:
    refusal = turn.answer.refusal
    if refusal:
        out.print(refusal.message, markup=False)
        for nearest in refusal.nearest:
            out.print(f"\n  near: [bold]{escape(nearest.title)}[/bold]")
            out.print(f"  {textwrap.shorten(nearest.text, 300, placeholder=' …')}", markup=False)
        return
    out.print(f"\n{turn.answer.text}\n", markup=False)
    overlaps = _lowest_overlaps(turn)
    for label in turn.answer.cited_labels:
        labelled = turn.evidence.paper(label)
        if labelled:
            out.print(
                f"\\[{label}] {escape(labelled.paper.title)} [dim]{escape(labelled.paper.id)}, overlap "
                f"{overlaps[label]:.2f} {overlap_word(overlaps[label])}[/dim]"
            )
    seconds = sum(step.seconds for step in turn.seconds)
    err.print(f"{turn.provenance.generator}, {seconds:.1f} s", style="dim", markup=False)


def _lowest_overlaps(turn: Turn) -> dict[int, float]:
    overlaps: dict[int, float] = {}
    for sentence in turn.answer.sentences:
        for citation in sentence.citations:
            overlaps[citation.label] = min(citation.overlap, overlaps.get(citation.label, 1.0))
    return overlaps


def _fail(error: Exception, as_json: bool) -> NoReturn:
    if as_json:
        typer.echo(json.dumps({"error": str(error)}, ensure_ascii=False))
    err.print(str(error), style="red", markup=False, soft_wrap=True)
    raise typer.Exit(2)


if __name__ == "__main__":
    # A process as short as this one only loses time to the garbage collector: two seconds of seven.
    gc.disable()
    try:
        app()
    finally:
        gc.freeze()
