"""GenGO Ultra, Table 3: instructions on scientific papers followed, held to a schema and free (SciRIFF)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from assistant.generators.parameters import default_parameters
from assistant.models.menu import ModelEntry, available_models, call_limits, describe_setup, open_model
from assistant.records import Parameters
from corpus.settings import Settings
from corpus.wording import counted
from evaluation.harness import list_ids
from evaluation.instructions import (
    TASKS,
    Asker,
    Reply,
    Way,
    ask_all,
    means,
    parse_instance_id,
    rate_replies,
    read_claims,
    read_items,
    reply_figures,
    task_figures,
)
from evaluation.judging import open_judge
from evaluation.reply_cache import form_hint, with_tokens
from evaluation.tables.harness import Missing, PlannedRows, Row, RowPlan, TableOptions, seed_table
from evaluation.tables.sources import FoundDataSet, find_data_set

WAYS: dict[Way, str] = {"held": "held to the schema", "free": "free"}
# As in SciRIFF: greedy decoding, replies of at most this length.
REPLY_TOKENS = 1024


def _plan(options: TableOptions) -> PlannedRows:
    found = find_data_set("sciriff", options.data)
    entries = {entry.id: entry for entry in available_models(options.settings)}
    available = f"There are: {', '.join(entries)}." if entries else f"There is none: set {describe_setup()}."
    if not options.models:
        yield Missing("a model to follow the instructions", f"name it: --model ID. {available}")
        return
    judge = options.judge if options.judge in entries else ""
    if not judge:
        unknown = f"{options.judge} cannot be asked here; " if options.judge else ""
        yield Missing("MUP judged and Qasper judged", f"{unknown}name a judge: --judge ID. {available}")
    for name in options.models:
        if name not in entries:
            yield Missing(name, f"it cannot be asked here. {available}")
            continue
        for way, label in WAYS.items():
            inputs = {
                "way": way,
                "is held": entries[name].structured,
                "parameters": _parameters(options.settings, entries[name]),
                "judge": judge,
                "items": found.path,
                "limit": options.limit,
            }
            row = partial(_row, replace(options, judge=judge), found, entries, name, way)
            yield RowPlan(f"{name}, {label}", inputs, row)


def _row(
    options: TableOptions, found: FoundDataSet, entries: Mapping[str, ModelEntry], name: str, way: Way
) -> Row:
    entry, settings = entries[name], options.settings

    items = (read_claims if found.form.stands_in else read_items)(found.path, options.limit)
    model = options.cached(open_model(entry, settings), form_hint(entry))
    parameters = _parameters(settings, entry)
    asker = Asker(model, way, parameters, call_limits(entry, settings), settings.model_calls)
    replies = ask_all(asker, items)
    figures, failed = task_figures(replies), 0
    if options.judge:
        judge = open_judge(options.judge, settings)
        judge_model = options.cached(judge.model, form_hint(entries[options.judge]))
        ratings, failed = rate_replies(replace(judge, model=judge_model), replies)
        figures |= ratings
    shares = {name: 100 * figure for name, figure in (figures | means(figures)).items()}
    notes = list(_notes(replies))
    if failed:
        notes.append(f"{counted(failed, 'rating')} left out, as it could not be had")
    if options.judge == entry.id:
        notes.append("the judge is the model itself")
    if way == "held" and not entry.structured:
        notes.append(
            "its server is not known to hold replies to a schema, so the schema is told in words (structured"
            " = true in the models file says that it does)"
        )
    return Row(f"{entry.id}, {WAYS[way]}", {**shares, **reply_figures(replies)}, note="; ".join(notes))


def _parameters(settings: Settings, entry: ModelEntry) -> Parameters:
    usual = default_parameters(settings, entry).max_tokens
    return with_tokens(entry, Parameters(temperature=0.0, top_p=1.0, max_tokens=usual), REPLY_TOKENS)


def _notes(replies: Sequence[Reply]) -> Iterator[str]:
    splits = " and ".join(sorted({parse_instance_id(reply.item.id)[1] for reply in replies}))
    counts = Counter(reply.item.task.name for reply in replies)
    listed = ", ".join(f"{name} {counts[name]:,}" for name in TASKS if counts[name])
    yield f"{counted(len(replies), 'item')} ({splits}: {listed})"
    if empty := [reply for reply in replies if reply.is_empty and not reply.problem]:
        yield f"no reply to {_wrong(empty)}"
    if failed := [reply for reply in replies if reply.problem]:
        yield f"an error for {_wrong(failed)}: {failed[0].problem.rstrip('.')}"
    if cut := sum(
        reply.exchanges[-1].completion.finish_reason == "length" for reply in replies if reply.exchanges
    ):
        yield f"the last reply to {counted(cut, 'item')} ran out of tokens"


def _wrong(replies: Sequence[Reply]) -> str:
    ids = list_ids([reply.item.id for reply in replies])
    return f"{counted(len(replies), 'item')}, counted as wrong ({ids})"


TABLE = seed_table("gengo-instructions", _plan)
