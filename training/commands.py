"""The commands of `commands.toml`; packages that take seconds to import are imported by the command."""

# ruff: noqa: PLC0415

import tomllib
from functools import partial
from pathlib import Path
from typing import Literal

from assistant.generators.parameters import default_parameters
from assistant.learned.parts import SHIPPED
from assistant.models.menu import ModelEntry, available_models, describe_setup, open_model
from corpus.encoder_choice import open_encoder
from corpus.settings import Settings, read_settings
from evaluation import harness
from evaluation.answers.questions import JUDGED, QUESTIONS
from evaluation.answers.rewriting import QueryContext
from evaluation.harness import Report, say
from evaluation.input_files import parse_named_folders
from evaluation.reply_cache import CachedModel, ReplyCache
from training.files import Run, TrainingError

_TEXTS = tomllib.loads(Path(__file__).with_name("commands.toml").read_text(encoding="utf-8"))
command = partial(harness.command, commands=_TEXTS, extra="train")


@command("data")
def data(
    documents: Path,
    out: Path,
    model: str = "",
    *,
    seed: int = 0,
    limit: int | None = None,
    dialogues: list[Path] | None = None,
    attribution: Literal["model", "score"] = "score",
    context: int = 4096,
) -> Report:
    from training.truthreader.construct import Construction, DataPlan, render_table_5
    from training.truthreader.documents import read_dialogues, read_documents

    settings = read_settings()
    entry = _entry(model, settings)
    source_documents = read_documents(documents)
    published = [row for path in dialogues or () for row in read_dialogues(path, limit, seed)]
    cached_model = CachedModel(open_model(entry, settings), ReplyCache(out.with_suffix(".calls.jsonl")))
    construction = Construction(
        source_documents,
        published,
        model=cached_model,
        parameters=default_parameters(settings, entry),
        encoder=open_encoder(settings),
        plan=DataPlan(attribution, limit, context, seed),
    )
    construction.run()
    about = {"documents": len(source_documents), "dialogues": len(published), "model": entry.id}
    counts = construction.write(out, {**about, "attribution": attribution, "seed": seed})
    say(render_table_5(counts["table_5"]))
    return Report(counts)


def _entry(name: str, settings: Settings) -> ModelEntry:
    """Return the model with this id, by default the first; raises TrainingError."""
    entries = {entry.id: entry for entry in available_models(settings)}
    if not entries or (name and name not in entries):
        raise TrainingError(
            f"There is no model {name!r} to write questions. Available: {', '.join(entries) or 'none'}."
            f" Set {describe_setup()}."
        )
    return entries[name] if name else next(iter(entries.values()))


@command("generator")
def generator(
    data: Path,
    model: str,
    out: Path,
    *,
    epochs: int = 2,
    learning_rate: float = 1e-5,
    length: int = 4096,
    seed: int = 0,
    rank: int = 16,
) -> Report:
    from training.generator import GeneratorPlan, train_generator

    plan = GeneratorPlan(epochs, learning_rate, length, seed, rank)
    return Report(train_generator(Run(data, out, out), model, plan))


@command("kinds")
def kinds(
    data: Path,
    out: Path | None = None,
    seed: int = 13,
    judged: Path = JUDGED,
    unseen: list[Path] | None = None,
) -> Report:
    from training.kinds import train_kinds

    run = Run(data, out or SHIPPED, out or SHIPPED, seed)
    card = train_kinds(run, judged, unseen or [QUESTIONS, QUESTIONS.with_name("later_questions.jsonl")])
    return Report({name: card.provenance[name] for name in ("held_back", "never_read")})


@command("relevance")
def relevance(
    data: Path,
    work: Path,
    out: Path | None = None,
    *,
    seed: int = 13,
    held: int = 0,
    home: list[str] | None = None,
    judged: Path = JUDGED,
    begun: Path | None = None,
) -> Report:
    from training.choice import HeldOutAbstracts
    from training.relevance import judged_data, train_relevance

    homes = parse_named_folders(home or [])
    abstracts = HeldOutAbstracts(data, work / "abstracts", held)
    judged_questions = judged_data(judged, homes, abstracts) if homes else None
    run = Run(data, work, out or SHIPPED, seed, held, begun)
    card = train_relevance(run, open_encoder(read_settings()), judged_questions)
    return Report(card.provenance["held_back"])


@command("choice")
def choice(
    home: list[str],
    data: Path | None = None,
    work: Path | None = None,
    out: Path | None = None,
    *,
    seed: int = 13,
    held: int = 0,
    judged: Path = JUDGED,
) -> Report:
    from training.choice import HeldOutAbstracts
    from training.relevance import fit_choice, judged_data

    if (data is None) != (work is None):
        raise TrainingError("--data and --work must be used together.")
    abstracts = HeldOutAbstracts(data, work, held) if data and work else None
    card = fit_choice(judged_data(judged, parse_named_folders(home), abstracts), out or SHIPPED, seed)
    return Report(card.scales["answerable_all"])


@command("follow-ups")
def follow_ups(data: Path, work: Path, out: Path | None = None, seed: int = 13) -> Report:
    from training.followups import train_follow_ups

    return Report(train_follow_ups(Run(data, work, out or SHIPPED, seed)).provenance["trained_on"])


@command("retriever")
def retriever(
    data: Path,
    work: Path,
    out: Path,
    *,
    context: QueryContext = "ours",
    length: int = 512,
    dialogues: list[Path] | None = None,
    most_dialogues: int = 8000,
    most_tokens: int | None = None,
    tokens_per_step: int = 8192,
    learning_rate: float = 2e-4,
    rank: int = 16,
    seed: int = 13,
) -> Report:
    from training.retriever import RetrieverPlan, train_retriever

    plan = RetrieverPlan(
        context, length, most_tokens, learning_rate, tokens_per_step, seed, rank, most_dialogues
    )
    return Report(train_retriever(Run(data, work, out), plan, dialogues or ())["held_back"])


@command("support")
def support(
    data: Path,
    work: Path,
    out: Path | None = None,
    *,
    seed: int = 13,
    held: int = 0,
    begun: Path | None = None,
) -> Report:
    from training.support import train_support

    run = Run(data, work, out or SHIPPED, seed, held, begun)
    return Report(train_support(run, open_encoder(read_settings())).provenance["other_sets_only"])
