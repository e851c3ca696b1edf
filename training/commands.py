"""The commands; `training/__main__.py` lists them. What takes seconds to import is imported when it runs."""

# ruff: noqa: PLC0415

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from assistant.generators import default_parameters
from assistant.learned import SHIPPED
from assistant.models import ModelEntry, available_models, open_model
from assistant.records import AssistantError
from corpus.encoder_choice import open_encoder
from corpus.errors import CorpusError
from corpus.settings import Settings, read_settings
from evaluation.answers.query_contexts import QueryContext
from evaluation.input_files import EvaluationError, named_folders
from evaluation.judged import JUDGED
from training.files import Run, TrainingError

Work = Annotated[Path, typer.Option(help="Where checkpoints are kept: a killed run goes on from them.")]
Part = Annotated[
    Path | None, typer.Option(help="Where weights and card go; by default where the product has its own.")
]
Seed = Annotated[int, typer.Option(help="What everything that is drawn depends on.")]
Rank = Annotated[int, typer.Option(help="The rank of LoRA's matrices.", min=1)]
Rate = Annotated[float, typer.Option(min=1e-9)]
Judged = Annotated[Path, typer.Option(help="The judged questions.")]


@contextmanager
def _failures_told() -> Iterator[None]:
    """Print why nothing can be made and exit with code 2."""
    try:
        yield
    except ModuleNotFoundError as error:
        typer.echo(f"{error.name} is missing: pip install -e '.[train]'", err=True)
        raise typer.Exit(2) from None
    except (AssistantError, CorpusError, EvaluationError, TrainingError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from None


def _say(line: str) -> None:
    typer.echo(line, err=True)


def data(
    documents: Annotated[
        Path, typer.Option(help="A PAPER_TRAIL_HOME, a folder of files, or JSON lines {id, title, text}.")
    ],
    out: Annotated[Path, typer.Option(help="Where the rows go; counts and what was dropped go beside it.")],
    model: Annotated[
        str, typer.Option(help="Who writes questions and answers; by default the settings' first model.")
    ] = "",
    seed: Seed = 0,
    limit: Annotated[
        int | None, typer.Option(help="Ask about at most so many passages, drawn at random.", min=1)
    ] = None,
    context: Annotated[
        int, typer.Option(help="Tokens that prompt and reply have at most.", min=1_500)
    ] = 4096,
) -> None:
    """Make cited dialogues of documents to train a generator on (TruthReader, section 3.1).

    What a model has replied is kept beside the rows: a run that was killed goes on where it was.
    """
    with _failures_told():
        from training.truthreader.construct import Construction
        from training.truthreader.documents import read_documents
        from training.truthreader.recording import RecordedModel

        settings = read_settings()
        entry = _entry(model, settings)
        found, unread = read_documents(documents)
        parameters, calls = default_parameters(settings, entry), out.with_suffix(".calls.jsonl")
        asked = RecordedModel(open_model(entry, settings), parameters, calls)
        made = Construction(found, asked, limit=limit, context=context, seed=seed, say=_say)
        made.dropped += unread
        made.run()
        about = {"documents": len(found), "model": entry.id, "seed": seed, "calls": asked.count}
        typer.echo(json.dumps(made.write(out, about)))


def generator(
    data: Annotated[Path, typer.Option(help="JSON lines of dialogues, as the data command makes them.")],
    model: Annotated[str, typer.Option(help="A folder with a model that was taught to chat, or its name.")],
    out: Annotated[Path, typer.Option(help="The folder that the trained model goes to.")],
    epochs: Annotated[int, typer.Option(min=1)] = 2,
    learning_rate: Rate = 1e-5,
    length: Annotated[
        int, typer.Option(help="Tokens of a row, into which dialogues are packed.", min=16)
    ] = 4096,
    seed: Seed = 0,
    rank: Rank = 16,
    rows_per_step: Annotated[int, typer.Option(min=1)] = 4,
    checkpoint_every: Annotated[int, typer.Option(help="Steps between checkpoints.", min=1)] = 20,
) -> None:
    """Train a generator to answer with citations: LoRA on a causal language model, merged when done.

    On a GPU if there is one. A run that was killed goes on from its last checkpoint. What comes out opens by
    PAPER_TRAIL_LOCAL_MODEL.
    """
    with _failures_told():
        from training.generator import GeneratorPlan, train_generator

        plan = GeneratorPlan(epochs, learning_rate, length, seed, rank, rows_per_step=rows_per_step)
        card = train_generator(Run(data, out, out, _say), model, plan, checkpoint_every)
        typer.echo(json.dumps(card))


def _entry(name: str, settings: Settings) -> ModelEntry:
    """Return the model of that name, by default the first; raises TrainingError."""
    entries = {entry.id: entry for entry in available_models(settings)}
    if not entries or (name and name not in entries):
        raise TrainingError(
            f"There is no model {name!r} to write questions. Available: {', '.join(entries) or 'none'}. Set"
            " TOGETHER_API_KEY for hosted models, PAPER_TRAIL_MODEL_URL and PAPER_TRAIL_MODELS_FILE for a"
            " server of your own, or PAPER_TRAIL_LOCAL_MODEL for a model on this machine."
        )
    return entries[name] if name else next(iter(entries.values()))


def relevance(
    data: Annotated[Path, typer.Option(help="The folder that holds `questions/`, the labelled sets.")],
    work: Work,
    out: Part = None,
    seed: Seed = 13,
    held: Annotated[
        int, typer.Option(help="Which of five parts of the papers only measures.", min=0, max=4)
    ] = 0,
    home: Annotated[
        list[str] | None,
        typer.Option(help="Where a corpus of the judged questions was built: NAME=FOLDER, once for each."),
    ] = None,
    judged: Judged = JUDGED,
    begun: Annotated[
        Path | None,
        typer.Option(help="The folder of a part that is gone on from, with the judged questions alone."),
    ] = None,
) -> None:
    """Learn which texts answer a question, from questions of which people marked what answers them."""
    with _failures_told():
        from training.relevance import RelevanceRun, judged_data, train_relevance

        homes = named_folders(home or [])
        asked = judged_data(judged, homes) if homes else None
        run = RelevanceRun(data, work, out or SHIPPED, _say, seed, held, judged=asked, begun=begun)
        card = train_relevance(run, open_encoder(read_settings()))
        typer.echo(json.dumps(card.provenance["held_back"]))


def choice(
    home: Annotated[
        list[str],
        typer.Option(help="Where a measured corpus of the judged questions was built: NAME=FOLDER."),
    ],
    out: Part = None,
    seed: Seed = 13,
    judged: Judged = JUDGED,
) -> None:
    """Fit anew which sentences are chosen and what is refused; the network of the relevance part stays."""
    with _failures_told():
        from training.relevance import fit_choice, judged_data

        card = fit_choice(judged_data(judged, named_folders(home)), out or SHIPPED, seed)
        typer.echo(json.dumps(card.scales["answerable_all"]))


def follow_ups(
    data: Annotated[Path, typer.Option(help="The folder that holds `rewriting/` and `questions/`.")],
    work: Work,
    out: Part = None,
    seed: Seed = 13,
) -> None:
    """Learn what follow-ups mean, from conversations whose questions people made self-contained."""
    with _failures_told():
        from training.followups import train_follow_ups

        card = train_follow_ups(Run(data, work, out or SHIPPED, _say, seed))
        typer.echo(json.dumps(card.provenance["trained_on"]))


def retriever(
    data: Annotated[
        Path,
        typer.Option(help="The folder of `citations/`, `acl_anthology/`, `questions/` and `rewriting/`."),
    ],
    work: Work,
    out: Annotated[Path, typer.Option(help="The folder that the encoder goes to.")],
    context: Annotated[
        QueryContext,
        typer.Option(
            help="The query of a follow-up: the question alone, with its history, or as we rewrite it."
        ),
    ] = "ours",
    length: Annotated[
        int, typer.Option(help="Tokens of a query, and of a text, at most.", min=16, max=512)
    ] = 512,
    most_tokens: Annotated[
        int | None, typer.Option(help="Read so many tokens at most: fewer queries, by chance.", min=1)
    ] = None,
    tokens_per_step: Annotated[int, typer.Option(help="The more, the more negatives.", min=64)] = 8192,
    negatives: Annotated[int, typer.Option(help="Hard negatives of a query.", min=0, max=8)] = 1,
    learning_rate: Rate = 2e-4,
    rank: Rank = 16,
    measured: Annotated[
        int, typer.Option(help="Queries of each set that are held back and measure.", min=1)
    ] = 100,
    checkpoint_seconds: Annotated[float, typer.Option(help="Seconds between checkpoints.", min=0)] = 60.0,
    seed: Seed = 13,
) -> None:
    """Fine-tune the bundled sentence encoder to find passages (TruthReader, section 3.2).

    A run that was killed goes on from its last checkpoint. What comes out opens by PAPER_TRAIL_ENCODER.
    """
    with _failures_told():
        from training.retriever import RetrieverPlan, train_retriever

        plan = RetrieverPlan(
            context, length, most_tokens, negatives, measured, learning_rate, tokens_per_step, seed, rank
        )
        card = train_retriever(Run(data, work, out, _say), plan, checkpoint_seconds)
        typer.echo(json.dumps(card["held_back"]))


def support(
    data: Annotated[
        Path, typer.Option(help="The folder that holds `support/`, `summaries/` and `attribution/`.")
    ],
    work: Work,
    out: Part = None,
    seed: Seed = 13,
    held: Annotated[
        int, typer.Option(help="Which of five parts of a set without splits only measures.", min=0, max=4)
    ] = 0,
) -> None:
    """Learn how far evidence carries a claim, from claims that people judged and claims made wrong."""
    with _failures_told():
        from training.support import train_support

        card = train_support(Run(data, work, out or SHIPPED, _say, seed, held), open_encoder(read_settings()))
        typer.echo(json.dumps(card.provenance["other_sets_only"]))
