"""Commands that tidy the corpus: remove and compact."""

from datetime import timedelta
from typing import Annotated

import typer

from corpus.encoder_choice import open_encoder
from corpus.errors import CorpusError
from corpus.settings import read_settings
from corpus.store.corpus import Corpus
from corpus.store.writer import CorpusWriter
from corpus.wording import counted
from indexer.lock import build_lock
from indexer.maintenance.compact import compact_home
from indexer.paper_map.map import draw_map
from indexer.printing import JsonOption, out, print_json, reports_errors


@reports_errors
def remove(collection: str, as_json: JsonOption = False) -> None:
    """Remove a collection from the corpus."""
    settings = read_settings()
    encoder = open_encoder(settings)
    papers = _papers_of(Corpus.open(settings.corpus_path, encoder), collection)
    with build_lock(settings):
        writer = CorpusWriter(settings.corpus_path, encoder)
        writer.remove_collection(collection)
        draw_map(writer)
        writer.publish()
    if as_json:
        print_json({"removed": collection, "papers": papers})
    else:
        out.print(f"Removed {collection}: {counted(papers, 'paper')}.", markup=False)


@reports_errors
def compact(
    keep_days: Annotated[
        int, typer.Option(min=1, help="Keep the versions of so many days, which may still be read.")
    ] = 30,
    as_json: JsonOption = False,
) -> None:
    """Free disk space: old versions, PDFs and TEI of papers that are gone, unfinished builds."""
    settings = read_settings()
    with build_lock(settings):
        freed = compact_home(settings, open_encoder(settings), timedelta(days=keep_days))
    if as_json:
        print_json({"bytes_before": freed.before, "bytes_after": freed.after, "files_removed": freed.files})
    else:
        saved = max(0, freed.before - freed.after) / 1024**2
        out.print(f"Freed {saved:,.1f} MiB; {freed.after / 1024**2:,.1f} MiB remain in {settings.place}.")


def _papers_of(corpus: Corpus, collection: str) -> int:
    counts = {summary.collection.id: summary.papers for summary in corpus.collections()}
    if collection not in counts:
        collections = ", ".join(counts) or "none"
        raise CorpusError(f"The corpus has no collection {collection!r}. It holds: {collections}.")
    return counts[collection]
