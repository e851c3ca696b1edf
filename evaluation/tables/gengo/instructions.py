"""GenGO Ultra, Table 3: instructions on scientific papers followed, held to a schema and free (SciRIFF)."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from assistant.generators import default_parameters
from assistant.models import ChatModel, ModelEntry, available_models, call_limits, open_model
from assistant.records import Parameters
from corpus.settings import Settings
from corpus.wording import counted
from evaluation.instructions import (
    Asker,
    Ratings,
    Reply,
    Way,
    ask_all,
    counts_of,
    means,
    parse_instance_id,
    rate_replies,
    read_claims,
    read_items,
    reply_figures,
    task_figures,
)
from evaluation.judging import Judge, open_judge
from evaluation.tables.records import Asked, Column, Missing, Planned, Row, RowPlan, Say, SeedTable
from evaluation.tables.replies import KeptModel, KeptReplies, replies_file
from evaluation.tables.sources import Found, find

WAYS: dict[Way, str] = {"held": "held to the schema", "free": "free"}
# As the authors of SciRIFF ask: the likeliest reply, of at most so many tokens.
REPLY_TOKENS = 1024
IDS_NAMED = 5
_JUDGED = ("MUP judged", "Qasper judged")
_SCORES = (
    *("BioASQ F1", "BioRED F1", "Evidence Inference exact F1", "Evidence Inference substring F1"),
    *("Evidence Inference overlap F1", "MultiCite F1", "MUP judged", "MUP ROUGE-L", "Qasper judged"),
    *("Qasper answer F1", "Qasper evidence F1", "SciERC F1", "SciFact label F1", "SciFact sentence F1"),
    *("SciFact token F1", "mean", "mean, unjudged", "invalid at first %", "invalid at last %"),
)


def _plan(asked: Asked, say: Say) -> Planned:
    found = find("sciriff", asked.data)
    entries = {entry.id: entry for entry in available_models(asked.settings)}
    if not asked.models:
        yield Missing("a model to follow the instructions", f"name it: --model ID. {_available(entries)}")
        return
    judge = asked.judge if asked.judge in entries else ""
    if not judge:
        unknown = f"{asked.judge} cannot be asked here; " if asked.judge else ""
        yield Missing(" and ".join(_JUDGED), f"{unknown}name a judge: --judge ID. {_available(entries)}")
    for name in asked.models:
        if name not in entries:
            yield Missing(name, f"it cannot be asked here. {_available(entries)}")
            continue
        for way, told in WAYS.items():
            inputs = {
                "way": way,
                "is held": entries[name].structured,
                "parameters": _parameters(asked.settings, entries[name]),
                "judge": judge,
                "items": found.path,
                "limit": asked.limit,
            }
            measure = partial(_row, replace(asked, judge=judge), found, entries[name], way, say)
            yield RowPlan(f"{name}, {told}", inputs, measure)


def _available(entries: dict[str, ModelEntry]) -> str:
    if entries:
        return f"There are: {', '.join(entries)}."
    return (
        "There is none: set TOGETHER_API_KEY, PAPER_TRAIL_MODEL_URL for a server of your own, or"
        " PAPER_TRAIL_LOCAL_MODEL for a model of this machine."
    )


def _row(asked: Asked, found: Found, entry: ModelEntry, way: Way, say: Say) -> Row:
    items = (read_claims if found.stand_in else read_items)(found.path, asked.limit)
    replies = ask_all(_asker(asked, entry, way), items, say)
    figures = task_figures(replies)
    ratings = Ratings({}, 0)
    if asked.judge:
        ratings = rate_replies(_judge(asked), replies, say)
        figures |= ratings.figures
    shares = {name: 100 * figure for name, figure in (figures | means(figures)).items()}
    note = "; ".join(_notes(asked, replies, ratings, entry, way))
    return Row(f"{entry.id}, {WAYS[way]}", {**shares, **reply_figures(replies)}, note=note)


def _asker(asked: Asked, entry: ModelEntry, way: Way) -> Asker:
    settings = asked.settings
    return Asker(
        model=_kept(asked, open_model(entry, settings), is_held=entry.structured),
        way=way,
        parameters=_parameters(settings, entry),
        limits=call_limits(entry, settings),
        at_once=settings.model_calls,
    )


def _parameters(settings: Settings, entry: ModelEntry) -> Parameters:
    usual = default_parameters(settings, entry)
    # Of a model that thinks the tokens are for its thoughts too.
    tokens = max(REPLY_TOKENS, usual.max_tokens) if entry.thinks else REPLY_TOKENS
    return Parameters(temperature=0.0, top_p=1.0, max_tokens=tokens)


def _kept(asked: Asked, model: ChatModel, *, is_held: bool) -> KeptModel:
    how = "held to the schema" if is_held else "told the schema in words"
    return KeptModel(model, KeptReplies(replies_file(asked.out, model.id)), how)


def _judge(asked: Asked) -> Judge:
    judge = open_judge(asked.judge, asked.settings)
    is_held = any(one.structured for one in available_models(asked.settings) if one.id == asked.judge)
    return replace(judge, model=_kept(asked, judge.model, is_held=is_held))


def _notes(
    asked: Asked, replies: Sequence[Reply], ratings: Ratings, entry: ModelEntry, way: Way
) -> list[str]:
    items = [reply.item for reply in replies]
    splits = " and ".join(sorted({parse_instance_id(item.id)[1] for item in items}))
    of_tasks = ", ".join(f"{name} {count:,}" for name, count in counts_of(items).items())
    notes = [f"{counted(len(items), 'item')} ({splits}: {of_tasks})"]
    failed = [reply for reply in replies if reply.problem]
    silent = [reply for reply in replies if reply.is_nothing and not reply.problem]
    if silent:
        notes.append(f"no reply to {_named(silent)}")
    if failed:
        notes.append(f"an error for {_named(failed)}: {failed[0].problem.rstrip('.')}")
    if cut := sum(one.exchanges[-1].completion.finish_reason == "length" for one in replies if one.exchanges):
        notes.append(f"the last reply to {counted(cut, 'item')} ran out of tokens")
    if ratings.failed:
        notes.append(f"{counted(ratings.failed, 'rating')} left out, as it could not be had")
    if asked.judge == entry.id:
        notes.append("the judge is the model itself")
    if way == "held" and not entry.structured:
        notes.append(
            "its server is not known to hold replies to a schema, so the schema is told in words (structured"
            " = true in the models file says that it does)"
        )
    return notes


def _named(replies: Sequence[Reply]) -> str:
    ids = ", ".join(reply.item.id for reply in replies[:IDS_NAMED])
    more = f" and {len(replies) - IDS_NAMED:,} more" if len(replies) > IDS_NAMED else ""
    return f"{counted(len(replies), 'item')}, counted as wrong ({ids}{more})"


TABLE = SeedTable(
    name="gengo-instructions",
    seed="GenGO Ultra",
    number="Table 3 and its appendix",
    title="instructions on papers followed, with JSON forced and free",
    columns=(
        *(Column(name) for name in _SCORES),
        *(Column("prompt tokens", 0), Column("completion tokens", 0), Column("seconds", 2)),
    ),
    sets=("sciriff",),
    plan=_plan,
    remarks=(
        "The rows that GenGO Ultra prints are not known here; it measured 4,622 items, with their JSON forced"
        " by outlines. How many items ours are of, and of which split, is said with each row.",
        "Figures are percentages by the definitions of SciRIFF's authors. Judged figures are mean ratings"
        " from 1 to 5 as shares of that scale, of all of Qasper's answers and of 100 of MUP's summaries; the"
        " judge is not theirs, and what it does not rate is left out, where they count some as 3.",
        "The mean is over the ten figures of their summary (without DiscoMaT); the unjudged one has ROUGE-L"
        " and answer F1 in place of the judged two. Neither is given unless all eight tasks are there.",
        "Invalid is a reply that is not JSON of the task's form, of the tasks that ask for JSON: at first as"
        " it stands; at last after it was asked for once more (held), or after JSON was looked for in it"
        " (free). Tokens and seconds are means for each item, of all its calls.",
    ),
)
