"""What a model writes for the table of summaries: one sentence on a paper, and its three aspects."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from assistant.generators import default_parameters
from assistant.models import ModelEntry, ModelError, available_models, open_model
from assistant.prompts import as_data, as_line, load_prompt, mark
from assistant.records import Parameters
from corpus.records import AspectName
from corpus.wording import counted
from evaluation.input_files import EvaluationError
from evaluation.paper_summaries import AspectItem, TldrItem, paper_of
from evaluation.tables.records import Asked
from evaluation.tables.replies import KeptModel, KeptReplies, replies_file

PROMPTS = Path(__file__).parent
TLDR_TOKENS, ASPECT_TOKENS = 120, 400
IDS_NAMED = 5

Item = TypeVar("Item", TldrItem, AspectItem)
Written = TypeVar("Written")


@dataclass(slots=True)
class SummaryWriter:
    """A model that writes summaries, and the ids of papers for which it wrote none."""

    entry: ModelEntry
    model: KeptModel
    parameters: Parameters
    at_once: int
    failed: list[str] = field(default_factory=list)

    def tldrs(self, items: Sequence[TldrItem]) -> list[str]:
        """Return one sentence on each paper, "" where the model failed."""
        return self._each(items, self._tldr, "")

    def aspects(self, items: Sequence[AspectItem]) -> list[dict[AspectName, str]]:
        """Return the three aspects of each paper as `indexer enrich` has them written, {} where it failed."""
        empty: dict[AspectName, str] = {}
        return self._each(items, self._aspects, empty)

    @property
    def note(self) -> str:
        """What readers should know of the row: the papers that count as wrong."""
        if not self.failed:
            return ""
        named = ", ".join(sorted(self.failed)[:IDS_NAMED])
        more = f" and {len(self.failed) - IDS_NAMED:,} more" if len(self.failed) > IDS_NAMED else ""
        return f"nothing written for {counted(len(self.failed), 'paper')}, counted as wrong ({named}{more})"

    def _each(
        self, items: Sequence[Item], write: Callable[[Item], Written], nothing: Written
    ) -> list[Written]:
        def written(item: Item) -> Written:
            try:
                return write(item)
            except ModelError:
                self.failed.append(item.id)
                return nothing

        with ThreadPoolExecutor(self.at_once) as pool:
            return list(pool.map(written, items))

    def _tldr(self, item: TldrItem) -> str:
        abstract = as_line(" ".join(item.source))
        paper = f"{mark('paper')}\n{as_line(item.title)}\n\n{as_data(abstract)}\n{mark('end of paper')}"
        messages = load_prompt("tldr", PROMPTS).render(paper=paper)
        parameters = _at_most(self.parameters, TLDR_TOKENS, self.entry)
        text = " ".join(self.model.exchange(messages, parameters).completion.text.split())
        if not text:
            self.failed.append(item.id)
        return text

    def _aspects(self, item: AspectItem) -> dict[AspectName, str]:
        from indexer.enrich.written import AspectModel, write_aspects  # noqa: PLC0415 - loads its parts

        parameters = _at_most(self.parameters, ASPECT_TOKENS, self.entry)
        writer = AspectModel(self.model, parameters, self.entry.context, self.entry.price, self.at_once)
        return {aspect.name: aspect.text for aspect in write_aspects(writer, *paper_of(item))}


def open_writer(name: str, asked: Asked) -> SummaryWriter:
    """Return a model as a writer of summaries, its replies kept; raises EvaluationError without it."""
    entries = {entry.id: entry for entry in available_models(asked.settings)}
    if name not in entries:
        raise EvaluationError(f"it cannot be asked here. There are: {', '.join(entries) or 'none'}.")
    entry = entries[name]
    how = "held to the schema" if entry.structured else "told the schema in words"
    model = KeptModel(open_model(entry, asked.settings), KeptReplies(replies_file(asked.out, name)), how)
    usual = default_parameters(asked.settings, entry)
    parameters = Parameters(temperature=0.0, top_p=1.0, max_tokens=usual.max_tokens)
    return SummaryWriter(entry, model, parameters, asked.settings.model_calls)


def _at_most(parameters: Parameters, tokens: int, entry: ModelEntry) -> Parameters:
    """Return the parameters with so many tokens; of a model that thinks they are for its thoughts too."""
    most = max(tokens, parameters.max_tokens) if entry.thinks else tokens
    return replace(parameters, max_tokens=most)
