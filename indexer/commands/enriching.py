"""The command that has a model write aspects of papers."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress

from assistant.models.menu import ModelEntry, available_models, describe_setup
from assistant.records import AssistantError
from corpus.encoder_choice import open_encoder
from corpus.records import Failure, Scope
from corpus.settings import Settings, read_settings
from corpus.wording import counted, joined
from indexer.printing import JsonOption, err, fail, out, print_json, print_pairs, reports_errors

if TYPE_CHECKING:
    from indexer.enrich.writing import Plan, Written

_PAPERS_HELP = "Only these papers, by their ids, such as my-papers/smith-2020. Can be repeated, or a,b,c."
_DRY_RUN_HELP = "Say what it takes, and ask nothing."
_ANYWAY_HELP = "Have a model of less than 8 billion parameters write."
# Measured on the 50 validation papers of ACLSum.
_TOO_SMALL = (
    "{label} has less than 8 billion parameters. Sentences by such models are no better than those chosen "
    "from the papers: by one of 1.5 billion ROUGE-1 was 25.3, 40.1 and 36.7 for challenge, approach and "
    "outcome, of the chosen ones 27.3, 42.5 and 35.9. --anyway has it write."
)


@reports_errors
def enrich(
    model: Annotated[str, typer.Option("--model", help="The model's id, as paper-trail lists them.")],
    collections: Annotated[
        list[str] | None, typer.Argument(help="The collections' ids; all of the corpus when not given.")
    ] = None,
    papers: Annotated[list[str] | None, typer.Option("--papers", help=_PAPERS_HELP)] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help=_DRY_RUN_HELP)] = False,
    anyway: Annotated[bool, typer.Option("--anyway", help=_ANYWAY_HELP)] = False,
    as_json: JsonOption = False,
) -> None:
    """Have a model write challenge, approach and outcome; what the paper does not carry is dropped."""
    from indexer.enrich.writing import plan_aspects, write_corpus_aspects  # noqa: PLC0415 - loads the store
    from indexer.enrich.written import open_aspect_model  # noqa: PLC0415 - loads what checks answers

    settings = read_settings()
    try:
        entry = _entry(model, settings)
    except AssistantError as error:
        fail(error, as_json)
    if entry.is_small and not anyway:
        fail(AssistantError(_TOO_SMALL.format(label=entry.label)), as_json)
    encoder = open_encoder(settings)
    writer = open_aspect_model(entry, settings, encoder)
    chosen = Scope(tuple(collections or ()), _listed(papers or ()))
    if papers and not chosen.papers:
        fail(AssistantError("--papers names no paper. Give ids, or leave it out for all papers."), as_json)
    plan = plan_aspects(settings, encoder, writer, chosen)
    if not as_json:
        (out if dry_run else err).print(_describe_plan(plan, entry), markup=False, soft_wrap=True)
    if dry_run:
        if as_json:
            print_json({"model": entry.id, "plan": asdict(plan)})
        else:
            _print_failures(plan.failures)
        return
    with Progress(console=err) as progress:
        task = progress.add_task(entry.label, total=plan.papers)
        done = write_corpus_aspects(settings, encoder, writer, chosen, lambda _: progress.advance(task))
    if as_json:
        print_json({"model": entry.id, "plan": asdict(plan), **asdict(done)})
    else:
        _print_failures(done.failures)
        out.print(_describe_result(done, entry), markup=False, soft_wrap=True)
    if done.asked and not done.written:
        raise typer.Exit(2)


def _entry(name: str, settings: Settings) -> ModelEntry:
    entries = {entry.id: entry for entry in available_models(settings)}
    if name not in entries:
        raise AssistantError(
            f"There is no model {name!r}. Available: {', '.join(entries) or 'none'}. Set {describe_setup()}."
        )
    return entries[name]


def _listed(papers: Sequence[str]) -> tuple[str, ...]:
    return tuple(paper.strip() for option in papers for paper in option.split(",") if paper.strip())


def _print_failures(failures: Sequence[Failure]) -> None:
    print_pairs("Not written", "Why", [(failure.item, failure.reason) for failure in failures])


def _describe_plan(plan: "Plan", entry: ModelEntry) -> str:
    """Describe the cost of writing aspects, and the papers left out with the reasons."""
    left_out = [
        (plan.written, "of which it has written before"),
        (plan.kept, "on which its replies are kept"),
        (plan.without_abstract, "without an abstract"),
        (len(plan.failures), "of which not a sentence fits into what it takes in"),
    ]
    parts = [f"{count:,} {why}" for count, why in left_out if count]
    but = f" (not about {joined(parts)})" if parts else ""
    papers = f"{entry.label} is asked about {counted(plan.asked, 'paper')}{but}"
    if not plan.asked:
        return f"{papers}: it costs nothing."
    tokens = f"about {plan.prompt_tokens:,} tokens sent and {plan.completion_tokens:,} received"
    return f"{papers}: {tokens}, {_describe_price(plan.price, entry, 'about ')}."


def _describe_result(done: "Written", entry: ModelEntry) -> str:
    summary = f"{entry.label} wrote for {done.written:,} of {counted(done.asked, 'paper')}"
    if done.sentences or done.chosen:
        sentences = counted(done.sentences, "sentence")
        summary += f" ({sentences} of it kept, {done.chosen:,} of the papers in place of others)"
    if not done.calls:
        return f"{summary}, without a call."
    sent, received = (
        "unknown" if tokens is None else f"{tokens:,}"
        for tokens in (done.usage.prompt_tokens, done.usage.completion_tokens)
    )
    tokens = f"{sent} tokens sent and {received} received"
    price = _describe_price(done.usage.price, entry)
    models = joined(done.served)
    served = f" The server says that {models} wrote, not {entry.id}." if models else ""
    return f"{summary}, in {counted(done.calls, 'call')}: {tokens}, {price}.{served}"


def _describe_price(price: float | None, entry: ModelEntry, about: str = "") -> str:
    from assistant.wording import format_price  # noqa: PLC0415 - loads what checks answers

    if entry.served_by.runs_here:
        return "free on this machine"
    return "price not known" if price is None else f"{about}{format_price(price)}"
