"""The commands; `training/__main__.py` lists them. What takes seconds to import is imported when it runs."""

# ruff: noqa: PLC0415

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Literal

from typer import Exit, Option, echo

from assistant.generators.parameters import default_parameters
from assistant.learned.parts import SHIPPED
from assistant.models.menu import ModelEntry, available_models, open_model
from assistant.records import AssistantError
from corpus.encoder_choice import open_encoder
from corpus.errors import CorpusError
from corpus.settings import Settings, read_settings
from evaluation.answers.query_contexts import QueryContext
from evaluation.input_files import EvaluationError, named_folders
from evaluation.judged import JUDGED
from evaluation.kept import KeptModel, KeptReplies
from training.files import Run, TrainingError

Work = Annotated[Path, Option(help="Where checkpoints are kept: a killed run resumes from them.")]
Part = Annotated[Path | None, Option(help="Where weights and card go; by default where the product's are.")]
Seed = Annotated[int, Option(help="The seed of everything random.")]
Held = Annotated[int, Option(help="Which fold of five only measures.", min=0, max=4)]
Rank = Annotated[int, Option(help="The rank of LoRA's matrices.", min=1)]
Rate = Annotated[float, Option(min=1e-9)]
Count = Annotated[int, Option(min=1)]
Dialogues = Annotated[list[Path] | None, Option(help="A file of RefGPT or WebCPM, as published; repeatable.")]
Home = Option(help="Where a corpus of the judged questions was built: NAME=FOLDER; repeatable.")
Begun = Annotated[Path | None, Option(help="The folder of a part to continue with the last stage alone.")]
Judged = Annotated[Path, Option(help="The judged questions.")]


@contextmanager
def _exit_on_failure() -> Iterator[None]:
    """Print why nothing can be made and exit with code 2."""
    try:
        yield
    except ModuleNotFoundError as error:
        echo(f"{error.name} is missing: pip install -e '.[train]'", err=True)
        raise Exit(2) from None
    except (AssistantError, CorpusError, EvaluationError, TrainingError) as error:
        echo(str(error), err=True)
        raise Exit(2) from None


def _say(line: str) -> None:
    echo(line, err=True)


def data(
    documents: Annotated[Path, Option(help="A PAPER_TRAIL_HOME, or JSON lines {id, title, text}.")],
    out: Annotated[Path, Option(help="Where the rows go; statistics and dropped ones go beside it.")],
    model: Annotated[str, Option(help="Who writes questions and answers; by default the first model.")] = "",
    seed: Seed = 0,
    limit: Annotated[
        int | None, Option(help="Passages to ask about, and dialogues of each file, drawn at random.", min=1)
    ] = None,
    dialogues: Dialogues = None,
    attribution: Annotated[
        Literal["model", "score"], Option(help="Who cites: the model (as in the paper), or word overlap.")
    ] = "score",
    context: Annotated[int, Option(help="Most tokens of prompt and reply.", min=1_500)] = 4096,
) -> None:
    """Make cited dialogues of documents to train a generator on (TruthReader, section 4.2.1).

    Replies of the model are kept beside the rows: a killed run resumes, and asks nothing twice.
    """
    with _exit_on_failure():
        from training.truthreader.construct import Construction, DataPlan
        from training.truthreader.dialogues import read_dialogues
        from training.truthreader.documents import read_documents
        from training.truthreader.statistics import render_table_5

        settings = read_settings()
        entry = _entry(model, settings)
        found = read_documents(documents)
        published = [row for path in dialogues or () for row in read_dialogues(path, limit, seed)]
        asked = KeptModel(open_model(entry, settings), KeptReplies(out.with_suffix(".calls.jsonl")))
        plan = DataPlan(attribution, limit, context, seed)
        made = Construction(
            found,
            published,
            model=asked,
            parameters=default_parameters(settings, entry),
            encoder=open_encoder(settings),
            plan=plan,
            say=_say,
        )
        made.run()
        about = {"documents": len(found), "dialogues": len(published), "model": entry.id}
        counts = made.write(out, {**about, "attribution": attribution, "seed": seed})
        _say(render_table_5(counts["table_5"]))
        echo(json.dumps(counts))


def _entry(name: str, settings: Settings) -> ModelEntry:
    """Return the model of that name, by default the first; raises TrainingError."""
    entries = {entry.id: entry for entry in available_models(settings)}
    if not entries or (name and name not in entries):
        raise TrainingError(
            f"There is no model {name!r} to write questions. Available: {', '.join(entries) or 'none'}. Set"
            " TOGETHER_API_KEY, PAPER_TRAIL_MODEL_URL with PAPER_TRAIL_MODELS_FILE, or"
            " PAPER_TRAIL_LOCAL_MODEL."
        )
    return entries[name] if name else next(iter(entries.values()))


def generator(
    data: Annotated[Path, Option(help="JSON lines of dialogues, as the data command makes them.")],
    model: Annotated[str, Option(help="A folder with a model that was taught to chat, or its name.")],
    out: Annotated[Path, Option(help="The folder that the trained model goes to.")],
    epochs: Count = 2,
    learning_rate: Rate = 1e-5,
    length: Annotated[
        int, Option(help="Most tokens of a dialogue; longer ones are left out.", min=16)
    ] = 4096,
    seed: Seed = 0,
    rank: Rank = 16,
) -> None:
    """Train a language model to answer with citations: LoRA, merged when done.

    Uses a GPU if there is one. A killed run resumes from its last checkpoint. PAPER_TRAIL_LOCAL_MODEL opens
    the result.
    """
    with _exit_on_failure():
        from training.generator import GeneratorPlan, train_generator

        plan = GeneratorPlan(epochs, learning_rate, length, seed, rank)
        echo(json.dumps(train_generator(Run(data, out, out, _say), model, plan)))


def relevance(
    data: Annotated[Path, Option(help="The folder that holds `questions/`, the labelled sets.")],
    work: Work,
    out: Part = None,
    seed: Seed = 13,
    held: Held = 0,
    home: Annotated[list[str] | None, Home] = None,
    judged: Judged = JUDGED,
    begun: Begun = None,
) -> None:
    """Learn which texts answer a question, from questions with marked answers."""
    with _exit_on_failure():
        from training.choice import HeldAbstracts
        from training.relevance import RelevanceRun, judged_data, train_relevance

        homes = named_folders(home or [])
        abstracts = HeldAbstracts(data, work / "abstracts", held)
        asked = judged_data(judged, homes, abstracts) if homes else None
        run = RelevanceRun(data, work, out or SHIPPED, _say, seed, held, judged=asked, begun=begun)
        echo(json.dumps(train_relevance(run, open_encoder(read_settings())).provenance["held_back"]))


def choice(
    home: Annotated[list[str], Home],
    data: Annotated[
        Path | None, Option(help="The folder of `questions/`: fit on the held-back abstracts in it too.")
    ] = None,
    work: Annotated[Path | None, Option(help="The folder that a corpus of abstracts goes to.")] = None,
    out: Part = None,
    seed: Seed = 13,
    held: Held = 0,
    judged: Judged = JUDGED,
) -> None:
    """Fit which sentences are chosen and what is refused, beside the relevance part's network."""
    with _exit_on_failure():
        from training.choice import HeldAbstracts
        from training.relevance import fit_choice, judged_data

        if (data is None) != (work is None):
            raise TrainingError("--data and --work are named together.")
        abstracts = HeldAbstracts(data, work, held) if data and work else None
        card = fit_choice(judged_data(judged, named_folders(home), abstracts), out or SHIPPED, seed)
        echo(json.dumps(card.scales["answerable_all"]))


def follow_ups(
    data: Annotated[Path, Option(help="The folder that holds `rewriting/` and `questions/`.")],
    work: Work,
    out: Part = None,
    seed: Seed = 13,
) -> None:
    """Learn what follow-ups mean, from conversations with self-contained questions."""
    with _exit_on_failure():
        from training.followups import train_follow_ups

        card = train_follow_ups(Run(data, work, out or SHIPPED, _say, seed))
        echo(json.dumps(card.provenance["trained_on"]))


def retriever(
    data: Annotated[
        Path, Option(help="The folder of `citations/`, `acl_anthology/`, `questions/` and `rewriting/`.")
    ],
    work: Work,
    out: Annotated[Path, Option(help="The folder that the encoder goes to.")],
    context: Annotated[
        QueryContext, Option(help="The query of a follow-up: alone, with its history, or rewritten.")
    ] = "ours",
    length: Annotated[int, Option(help="Most tokens of a query or a text.", min=16, max=512)] = 512,
    dialogues: Dialogues = None,
    most_dialogues: Annotated[
        int, Option(help="Most dialogues of each file, drawn at random.", min=1)
    ] = 8000,
    most_tokens: Annotated[int | None, Option(help="Most tokens of the run.", min=1)] = None,
    tokens_per_step: Annotated[int, Option(help="The more, the more negatives.", min=64)] = 8192,
    learning_rate: Rate = 2e-4,
    rank: Rank = 16,
    seed: Seed = 13,
) -> None:
    """Fine-tune the bundled sentence encoder to find passages (TruthReader, section 4.1).

    A killed run resumes from its last checkpoint. PAPER_TRAIL_ENCODER opens the result.
    """
    with _exit_on_failure():
        from training.retriever import RetrieverPlan, train_retriever

        plan = RetrieverPlan(
            context, length, most_tokens, learning_rate, tokens_per_step, seed, rank, most_dialogues
        )
        card = train_retriever(Run(data, work, out, _say), plan, dialogues or ())
        echo(json.dumps(card["held_back"]))


def support(
    data: Annotated[Path, Option(help="The folder of `support/`, `summaries/` and `attribution/`.")],
    work: Work,
    out: Part = None,
    seed: Seed = 13,
    held: Held = 0,
    begun: Begun = None,
) -> None:
    """Learn how far evidence supports a claim, from judged claims and altered ones."""
    with _exit_on_failure():
        from training.support import SupportRun, train_support

        run = SupportRun(data, work, out or SHIPPED, _say, seed, held, begun)
        card = train_support(run, open_encoder(read_settings()))
        echo(json.dumps(card.provenance["other_sets_only"]))
