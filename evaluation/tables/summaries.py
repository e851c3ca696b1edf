"""GenGO Ultra, Table 2: summaries of papers in one sentence (SciTLDR) and by aspect (ACLSum)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from assistant.checking.scorer import SupportScorer
from assistant.generators.parameters import default_parameters
from assistant.models.menu import ModelEntry, available_models, open_model
from assistant.prompts.render import as_data, as_line, load_prompt, mark
from assistant.records import Parameters
from corpus.encoder_choice import open_encoder
from corpus.records import AspectName
from corpus.wording import counted
from evaluation.harness import list_ids
from evaluation.input_files import PROMPTS, EvaluationError
from evaluation.paper_summaries import (
    ASPECTS,
    AspectItem,
    TldrItem,
    measure_aspects,
    measure_tldr,
    paper_of,
    read_aspect_items,
    read_tldr_items,
    score_aspects,
    score_tldrs,
)
from evaluation.reply_cache import CachedModel, ask_each, form_hint, with_tokens
from evaluation.rouge import Scores
from evaluation.tables.harness import Missing, PlannedRows, Row, RowPlan, TableOptions, seed_table
from evaluation.tables.sources import FoundDataSet, MissingError, check_count, find_data_set

TLDR, ACLSUM = "SciTLDR", "ACLSum"
TLDR_TOKENS, ASPECT_TOKENS = 120, 400
METRICS = {"rouge1": "ROUGE-1", "rouge2": "ROUGE-2", "rougeL": "ROUGE-L", "rougeK": "ROUGE-K"}
_READ: Mapping[str, Callable[[Path], tuple[str, Sequence[object]]]] = {
    TLDR: read_tldr_items,
    ACLSUM: read_aspect_items,
}
# Titles of our rows by their names in the figures.
_OURS = {"ours": "extractive, one sentence chosen", "lead": "lead sentences", "oracle": "oracle sentence"}


@dataclass(frozen=True, slots=True)
class SummaryWriter:
    """A model that writes summaries."""

    entry: ModelEntry
    model: CachedModel
    parameters: Parameters
    scorer: SupportScorer
    at_once: int

    def tldr(self, item: TldrItem) -> str:
        abstract = as_line(" ".join(item.source))
        paper = f"{mark('paper')}\n{as_line(item.title)}\n\n{as_data(abstract)}\n{mark('end of paper')}"
        messages = load_prompt("tldr", PROMPTS).render(paper=paper)
        parameters = with_tokens(self.entry, self.parameters, TLDR_TOKENS)
        return " ".join(self.model.exchange(messages, parameters).completion.text.split())

    def aspects(self, item: AspectItem) -> dict[AspectName, str]:
        """Write the three aspects as `indexer enrich` does with a model."""
        from indexer.enrich.written import AspectModel, write_aspects  # noqa: PLC0415 - loads its parts

        parameters = with_tokens(self.entry, self.parameters, ASPECT_TOKENS)
        writer = AspectModel(
            self.model, self.scorer, parameters, self.entry.context, self.entry.price, self.at_once
        )
        return {aspect.name: aspect.text for aspect in write_aspects(writer, *paper_of(item))}


def _open_writer(name: str, options: TableOptions) -> SummaryWriter:
    """Open a model with cached replies to write summaries; raises EvaluationError if it is not available."""
    entries = {entry.id: entry for entry in available_models(options.settings)}
    if name not in entries:
        raise EvaluationError(f"it is not available. There are: {', '.join(entries) or 'none'}.")
    entry = entries[name]
    model = options.cached(open_model(entry, options.settings), form_hint(entry))
    usual = default_parameters(options.settings, entry).max_tokens
    parameters = Parameters(temperature=0.0, top_p=1.0, max_tokens=usual)
    scorer = SupportScorer(open_encoder(options.settings))
    return SummaryWriter(entry, model, parameters, scorer, options.settings.model_calls)


def _plan(options: TableOptions) -> PlannedRows:
    found: dict[str, FoundDataSet] = {}
    for title, name in ((TLDR, "scitldr"), (ACLSUM, "aclsum")):
        try:
            data_set = find_data_set(name, options.data)
            check_count(data_set, "papers", len(_READ[title](data_set.path)[1]))
            found[title] = data_set
        except MissingError as error:
            yield Missing(error.what, error.advice)
    if not found:
        return
    inputs: dict[str, object] = {title: data_set.path for title, data_set in found.items()}
    for name, title in _OURS.items():
        yield RowPlan(title, inputs, partial(_our_row, found, name, title))
    if not options.models:
        yield Missing("any model", "name it with --model.")
    for model in options.models:
        yield RowPlan(model, {**inputs, "limit": options.limit}, partial(_model_row, options, found, model))


def _our_row(found: Mapping[str, FoundDataSet], name: str, title: str) -> Row:
    figures: dict[str, float] = {}
    notes = []
    if data_set := found.get(TLDR):
        tldr = measure_tldr(data_set.path)
        figures |= _columns(TLDR, tldr.systems[name]["tldr"])
        notes.append(f"{tldr.papers:,} papers of SciTLDR ({tldr.split})")
    if data_set := found.get(ACLSUM):
        aspects = measure_aspects(data_set.path)
        for aspect in ASPECTS:
            figures |= _columns(aspect, aspects.systems[name][aspect])
        notes.append(f"{aspects.papers:,} of ACLSum ({aspects.split})")
    return Row(title, figures, note=", ".join(notes))


def _model_row(options: TableOptions, found: Mapping[str, FoundDataSet], model: str) -> Row:
    writer = _open_writer(model, options)
    figures: dict[str, float] = {}
    notes, failed = [], list[str]()
    if data_set := found.get(TLDR):
        items = read_tldr_items(data_set.path)[1][: options.limit]
        texts, _ = ask_each(items, writer.tldr, writer.at_once)
        failed += [item.id for item, text in zip(items, texts, strict=True) if not text]
        figures |= _columns(TLDR, score_tldrs(items, [text or "" for text in texts]))
        notes.append(f"{len(items):,} papers of SciTLDR")
    if data_set := found.get(ACLSUM):
        papers = read_aspect_items(data_set.path)[1][: options.limit]
        aspects, _ = ask_each(papers, writer.aspects, writer.at_once)
        failed += [paper.id for paper, texts in zip(papers, aspects, strict=True) if texts is None]
        for aspect, scores in score_aspects(papers, [texts or {} for texts in aspects]).items():
            figures |= _columns(aspect, scores)
        notes.append(f"{len(papers):,} of ACLSum")
    note = ", ".join(notes)
    if failed:
        count = counted(len(failed), "paper")
        note += f"; nothing written for {count}, counted as wrong ({list_ids(sorted(failed))})"
    return Row(model, figures, note=note)


def _columns(part: str, scores: Scores) -> dict[str, float]:
    return {f"{part} {title}": scores[metric] for metric, title in METRICS.items() if metric in scores}


TABLE = seed_table("gengo-summaries", _plan)
