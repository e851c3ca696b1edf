"""What search finds: judged collections, peers, known items, conversations."""

import json
from pathlib import Path
from typing import Annotated

import typer

from corpus.encoder_choice import open_encoder
from corpus.encoders import Runtime
from corpus.search import SearchMode
from corpus.settings import read_settings
from corpus.wording import counted
from evaluation.commands.failures import failures_told
from evaluation.commands.printing import out, print_figures
from evaluation.histories import histories_table, measure_histories
from evaluation.known_items import known_items_table, measure_known_items
from evaluation.peers.comparison import Comparison, compare, peers_table, said_beside
from evaluation.peers.material import Wanted
from evaluation.retrieval import HowSearched, RetrievalFigures, Split, evaluate, evaluate_corpus


def retrieval(
    data: Annotated[
        Path,
        typer.Option(help="A folder with corpus.jsonl, queries.jsonl and qrels.tsv or qrels/*.tsv (BEIR)."),
    ],
    *,
    corpus: Annotated[
        Path | None,
        typer.Option(
            help="Search this PAPER_TRAIL_HOME, whose papers the judgements name, and build nothing."
        ),
    ] = None,
    split: Annotated[
        Split | None,
        typer.Option(help="The judgements in qrels/; by default qrels.tsv, else the test split."),
    ] = None,
    encoder: Annotated[
        str | None, typer.Option(help="The encoder to measure instead of the setting's.")
    ] = None,
    mode: Annotated[SearchMode, typer.Option(help="The side of the search to measure.")] = "hybrid",
    runtime: Annotated[Runtime | None, typer.Option(help="What runs the encoder.")] = None,
) -> None:
    """Measure search on a collection with relevance judgements, through our own build and search."""
    with failures_told():
        how = HowSearched(mode, encoder, runtime)
        figures = evaluate_corpus(corpus, data, how, split) if corpus else evaluate(data, how, split)
    _say_missing(figures)
    print_figures(figures, decimals=4)


def peers(
    data: Annotated[
        list[Path],
        typer.Option(help="A folder in BEIR's form, as for `retrieval`; for several, repeat."),
    ],
    python: Annotated[
        Path, typer.Option(help="The Python of the environment that has evaluation/peers/requirements.txt.")
    ],
    *,
    anthology: Annotated[
        Path | None,
        typer.Option(help="What folders without corpus.jsonl search: the Anthology's papers with abstracts."),
    ] = None,
    most_documents: Annotated[
        int | None,
        typer.Option(help="Search the relevant documents and others by chance, so many at most.", min=1),
    ] = None,
    peer: Annotated[
        list[str] | None, typer.Option(help="Compare with this peer alone; may be repeated.")
    ] = None,
    out_folder: Annotated[
        Path, typer.Option("--out", help="Where runs are kept; those that are there are not made again.")
    ] = Path("build/peers"),
) -> None:
    """Measure our search beside paper-qa's and plain LanceDB's: same documents, questions and weights."""
    comparison = Comparison(data, Wanted(anthology, most_documents), tuple(peer or ()))
    with failures_told():
        compared = list(compare(comparison, python, out_folder, lambda line: typer.echo(line, err=True)))
    out.print(peers_table(compared))
    for line in said_beside(compared):
        out.print(line, style="dim", markup=False, highlight=False)
    typer.echo(json.dumps(compared))


def known_items(
    home: Annotated[
        Path | None, typer.Option(help="The PAPER_TRAIL_HOME to search; by default that of the settings.")
    ] = None,
    most: Annotated[int, typer.Option(help="Queries of each kind, at most.", min=1)] = 200,
    seed: Annotated[int, typer.Option(help="Which papers are looked for, and with which slips.")] = 1,
) -> None:
    """Measure whether search finds known papers: by title, name, author or id, with a slip or without."""
    with failures_told():
        figures = measure_known_items(home or read_settings().home, most, seed)
    out.print(known_items_table(figures))
    typer.echo(json.dumps(figures))


def histories(
    turns: Annotated[
        Path, typer.Option(help="JSON lines: history, question, contexts, answerability, collection (MTRAG).")
    ],
    encoder: Annotated[
        str | None, typer.Option(help="The encoder to measure instead of the setting's.")
    ] = None,
    runtime: Annotated[Runtime | None, typer.Option(help="What runs the encoder.")] = None,
) -> None:
    """Measure what an encoder finds in conversations, with four kinds of history (TruthReader's Table 4)."""
    with failures_told():
        settings = HowSearched(encoder=encoder).settings(read_settings())
        figures = measure_histories(turns, open_encoder(settings, runtime))
    out.print(histories_table(figures))
    typer.echo(json.dumps(figures))


def _say_missing(figures: RetrievalFigures) -> None:
    if missing := figures["missing_documents"]:
        documents = counted(missing, "relevant document")
        typer.echo(f"Not in the corpus, so counted as not found: {documents}.", err=True)
