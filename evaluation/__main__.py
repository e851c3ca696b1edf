"""The evaluation's command line: each command prints a table for people and, last, one JSON line."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Column, Table

from assistant.comparing import MOST_SAMPLES
from assistant.generators import EXTRACTIVE
from corpus.encoder_choice import open_encoder
from corpus.encoders import Runtime
from corpus.search import SearchMode
from corpus.settings import read_settings
from corpus.wording import counted
from evaluation.answers.highlights import highlights_table, measure_highlights
from evaluation.answers.pairs import Selection
from evaluation.answers.questions import (
    QUESTIONS,
    Chosen,
    Part,
    QuestionKind,
    Written,
    measure_questions,
    questions_table,
)
from evaluation.answers.refusal import measure_refusal, refusal_table
from evaluation.answers.rewriting import measure_rewriting, read_turns, rewriting_table
from evaluation.answers.wordings import measure_wordings, wordings_table
from evaluation.aspects import ASPECTS, LLAMA, AspectFigures, measure_aspects
from evaluation.bench.build import measure
from evaluation.bench.latency import measure_latency
from evaluation.bench.search import SearchSpeed, measure_search
from evaluation.commands import tables as table_commands
from evaluation.commands.failures import failures_told
from evaluation.corpus_figures import corpus_table, measure_corpus
from evaluation.fields import LABELLED, LabelledPart, Readable, fields_table, measure_fields
from evaluation.histories import histories_table, measure_histories
from evaluation.input_files import EvaluationError, named_folders
from evaluation.judged import JUDGED, counts_of, judged_table, measure_judged, read_judged
from evaluation.known_items import known_items_table, measure_known_items
from evaluation.peers.comparison import Comparison, compare, peers_table, said_beside
from evaluation.peers.material import Wanted
from evaluation.retrieval import HowSearched, RetrievalFigures, Split, evaluate, evaluate_corpus
from evaluation.rouge import METRICS
from evaluation.summaries.corwa import TAG_WEIGHTS
from evaluation.tldr import OVER_TARGETS, TldrFigures, measure_tldr
from indexer.enrich import TLDR_WEIGHTS

app = typer.Typer(
    help="Measure Paper Trail.", no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)
out = Console()


@app.callback()
def main() -> None:
    """Measure Paper Trail."""


@app.command()
def bench(
    anthology: Annotated[
        Path | None, typer.Option(help="Measure on real volumes from this Anthology data directory.")
    ] = None,
    quick: Annotated[bool, typer.Option(help="Measure on the three smallest volumes only.")] = False,
    search_rows: Annotated[
        int, typer.Option(help="Measure search alone, over so many synthetic passages.", min=0)
    ] = 0,
) -> None:
    """Measure speed: builds beside the bare encoder, search, answers without a model, cold starts."""
    if search_rows:
        speed = measure_search(search_rows)
        out.print(_search_table(speed))
        typer.echo(json.dumps(speed))
        return
    figures = measure(anthology, quick=quick)
    table = Table("What", Column("Figure", justify="right"), box=SIMPLE_HEAD)
    for label, written in _BENCH_ROWS:
        table.add_row(label, written.format_map(figures))
    out.print(table)
    typer.echo(json.dumps(figures))


@app.command()
def bench_app(
    home: Annotated[
        Path | None, typer.Option(help="Measure on this PAPER_TRAIL_HOME, in which nothing is changed.")
    ] = None,
    *,
    anthology: Annotated[
        Path | None, typer.Option(help="Measure on real volumes from this Anthology data directory.")
    ] = None,
    sessions: Annotated[
        list[int] | None, typer.Option(help="Visitors at once, by default 25; for several, repeat.")
    ] = None,
    seconds: Annotated[float, typer.Option(help="How long each of four turns at a page takes.")] = 6.0,
    think: Annotated[float, typer.Option(help="Seconds between two looks of a visitor.")] = 1.0,
    clicks: Annotated[int, typer.Option(help="Clicks on citations in Chromium, where there is one.")] = 20,
    page: Annotated[list[str] | None, typer.Option(help="Measure this page alone; may be repeated.")] = None,
) -> None:
    """Measure the app: how quickly pages are drawn for many visitors, beside Streamlit's stock settings."""
    # The browser and the websocket are for development; who measures something else need not have them.
    from evaluation.bench import app as app_bench  # noqa: PLC0415

    wanted = app_bench.Wanted(
        home, anthology, tuple(sessions or (25,)), seconds, think, clicks, tuple(page or ())
    )
    with failures_told():
        figures = app_bench.measure_app(wanted, lambda line: typer.echo(line, err=True))
    for table in app_bench.app_tables(figures):
        out.print(table)
    for failure in app_bench.app_failures(figures):
        typer.echo(failure)
    typer.echo(json.dumps(figures))


@app.command()
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
    _print_figures(figures, decimals=4)


@app.command()
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


@app.command()
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


@app.command()
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


@app.command()
def latency(
    home: Annotated[
        Path | None, typer.Option(help="The PAPER_TRAIL_HOME to ask; by default that of the settings.")
    ] = None,
    delay: Annotated[float, typer.Option(help="Seconds the model takes to begin a reply.")] = 0.3,
    rounds: Annotated[int, typer.Option(help="How often each question is asked.")] = 4,
) -> None:
    """Measure what is added to a model's own time until its first words are on their way to the reader."""
    with failures_told():
        figures = measure_latency(home or read_settings().home, delay, rounds)
    _print_figures(figures, decimals=1)


@app.command()
def aspects(
    data: Annotated[Path, typer.Option(help="JSON lines in the form of ACLSum.")],
    split: Annotated[
        str, typer.Option(help="The part to measure on; by default validation where there is one, else all.")
    ] = "",
) -> None:
    """Measure chosen challenges, approaches and outcomes against summaries that people wrote."""
    with failures_told():
        figures = measure_aspects(data, split)
    out.print(_aspects_table(figures))
    typer.echo(json.dumps(figures.ours))


@app.command()
def tldr(
    data: Annotated[Path, typer.Option(help="JSON lines in the form of SciTLDR.")],
    split: Annotated[
        str, typer.Option(help="The part to measure on; by default dev where there is one, else all.")
    ] = "",
) -> None:
    """Measure the one sentence chosen from an abstract and shortened against those that people wrote."""
    with failures_told():
        figures = measure_tldr(data, split)
    out.print(_tldr_table(figures))
    typer.echo(json.dumps(figures.ours))


@app.command()
def train_tldr(
    data: Annotated[Path, typer.Option(help="JSON lines in the form of SciTLDR.")],
    out_file: Annotated[Path, typer.Option("--out", help="Where the weights go.")] = TLDR_WEIGHTS,
    split: Annotated[str, typer.Option(help="The part to fit on.")] = "train",
) -> None:
    """Fit the weights that choose and shorten the one sentence on a paper."""
    from evaluation.train_tldr import train_tldr as train  # noqa: PLC0415 - scipy takes a second to import

    with failures_told():
        provenance = train(data, out_file, split)
    typer.echo(json.dumps(provenance))


@app.command()
def fields(
    *,
    anthology: Annotated[
        Path | None, typer.Option(help="The data directory of a copy of the ACL Anthology.")
    ] = None,
    pdfs: Annotated[
        Path | None, typer.Option(help="PDFs of labelled papers, named by their Anthology ids.")
    ] = None,
    part: Annotated[LabelledPart, typer.Option(help="The labelled papers to measure on.")] = "development",
    data: Annotated[Path, typer.Option(help="JSON lines: paper, collection, part, fields.")] = LABELLED,
) -> None:
    """Measure fields of study against labels that a reader gave."""
    with failures_told():
        figures = measure_fields(data, Readable(anthology, pdfs), open_encoder(read_settings()), part)
    out.print(fields_table(figures))
    typer.echo(json.dumps(figures))


@app.command()
def rewriting(
    turns: Annotated[
        Path,
        typer.Option(
            help="JSON lines with history, raw and manual (CAsT), or history, question and rewrite (CANARD)."
        ),
    ],
) -> None:
    """Measure rewriting without a model against questions that people rewrote."""
    with failures_told():
        figures = measure_rewriting(read_turns(turns))
    out.print(rewriting_table(figures))
    sources = {name: part for name, part in figures.items() if name != "all"}
    typer.echo(json.dumps({**figures["all"], "sources": sources}))


@app.command()
def refusal(
    corpus: Annotated[Path, typer.Option(help="A PAPER_TRAIL_HOME, or the corpus folder in it.")],
    *,
    made: Annotated[bool, typer.Option(help="Make questions from the papers in any case.")] = False,
) -> None:
    """Measure refusal without a model: questions asked of collections that can and cannot answer them."""
    with failures_told():
        figures = measure_refusal(corpus, made=made)
    out.print(refusal_table(figures))
    typer.echo(json.dumps(figures))


@app.command()
def questions(
    corpus: Annotated[Path, typer.Option(help="A PAPER_TRAIL_HOME, or the corpus folder in it.")],
    *,
    data: Annotated[
        Path, typer.Option(help="JSON lines: id, question, history, paper, expect, expected_papers.")
    ] = QUESTIONS,
    out_file: Annotated[
        Path | None, typer.Option("--out", help="Where every answer goes, for people to judge.")
    ] = None,
    part: Annotated[Part | None, typer.Option(help="Ask this part alone.")] = None,
    kind: Annotated[QuestionKind | None, typer.Option(help="Ask this kind alone.")] = None,
    corpus_name: Annotated[
        str | None, typer.Option(help="Ask those alone that were written for this corpus, such as demo.")
    ] = None,
    trails: Annotated[
        Path | None, typer.Option(help="A folder for the trail of each question, for a model to judge.")
    ] = None,
    generator: Annotated[str, typer.Option(help="What writes: extractive, or a model's id.")] = EXTRACTIVE,
) -> None:
    """Ask questions that were written beforehand, count answers and refusals, and keep them to be judged."""
    with failures_told():
        chosen, written = Chosen(part, kind, corpus_name), Written(out_file, trails)
        figures = measure_questions(data, corpus, chosen, written, generator)
    out.print(questions_table(figures))
    typer.echo(json.dumps(figures))


@app.command()
def corpus(
    home: Annotated[
        Path | None, typer.Option(help="The PAPER_TRAIL_HOME to measure; by default that of the settings.")
    ] = None,
    most: Annotated[int, typer.Option(help="Ask so much of each kind at most.", min=1)] = 100,
) -> None:
    """Measure a corpus as a whole, and keep the figures beside it: the About page shows them."""
    # Not of a home that only this machine has.
    command = f"python -m evaluation corpus --most {most}"
    with failures_told():
        report = measure_corpus(home, most, command)
    out.print(corpus_table(report))
    typer.echo(json.dumps(asdict(report)))


@app.command()
def wordings(
    corpus: Annotated[Path, typer.Option(help="A PAPER_TRAIL_HOME, or the corpus folder in it.")],
    most: Annotated[int, typer.Option(help="Ask of so many topics, full texts and systems.", min=1)] = 30,
) -> None:
    """Measure how steady answers are: in other words, of every full text, and where nothing is said."""
    with failures_told():
        figures = measure_wordings(corpus, most)
    out.print(wordings_table(figures))
    typer.echo(json.dumps(figures))


@app.command()
def highlights(
    data: Annotated[Path, typer.Option(help="JSON lines in the form of ACLSum, with highlights.")],
    split: Annotated[str, typer.Option(help="Ask of this split alone.")] = "",
) -> None:
    """Measure whether the first sentence about a paper's challenge, approach or outcome is highlighted."""
    with failures_told():
        figures = measure_highlights(data, split)
    out.print(highlights_table(figures))
    typer.echo(json.dumps(figures))


@app.command()
def judged(
    home: Annotated[
        list[str], typer.Option(help="Where a corpus of the questions was built: NAME=FOLDER, once for each.")
    ],
    data: Annotated[Path, typer.Option(help="The judged questions.")] = JUDGED,
) -> None:
    """Ask questions of which was judged what answers them, and count the sentences that do."""
    with failures_told():
        outcomes = measure_judged(read_judged(data), named_folders(home))
    out.print(judged_table(outcomes))
    typer.echo(json.dumps(counts_of(outcomes)))


@app.command()
def attribution(
    pairs: Annotated[
        Path,
        typer.Option(
            help="JSON lines: claim, references or evidence, label (1 = supported, or in words), set, split."
        ),
    ],
    *,
    cross_validate: Annotated[
        bool,
        typer.Option("--cross-validate", help="Score each pair by weights that saw nothing of its kind."),
    ] = False,
    across_sets: Annotated[
        bool, typer.Option("--across-sets", help="Score each set by weights trained on the other sets.")
    ] = False,
    only_set: Annotated[
        list[str] | None, typer.Option("--set", help="Measure this set alone; for several, repeat.")
    ] = None,
    split: Annotated[
        list[str] | None, typer.Option(help="Measure this split alone; for several, repeat.")
    ] = None,
    sample: Annotated[
        int | None, typer.Option(help="Measure so many pairs of each set, the same every time.", min=1)
    ] = None,
    runtime: Annotated[Runtime | None, typer.Option(help="What runs the encoder.")] = None,
) -> None:
    """Measure overlap and support against human labels, and on claims made wrong on purpose."""
    from evaluation.answers import attribution as report  # noqa: PLC0415 - scikit-learn takes seconds to import

    how: report.Scoring = "cross-validated" if cross_validate else "other sets" if across_sets else "shipped"
    with failures_told():
        chosen = Selection(tuple(only_set or ()), tuple(split or ()), sample)
        figures = report.attribution_figures(pairs, how, runtime, chosen)
    for table in report.attribution_tables(figures):
        out.print(table)
    typer.echo(json.dumps(figures.to_json()))


@app.command()
def evidence(
    data: Annotated[
        Path, typer.Option(help="JSON lines: question, candidates, relevant (indices), history, title, set.")
    ],
    runtime: Annotated[Runtime | None, typer.Option(help="What runs the encoder.")] = None,
) -> None:
    """Measure how high rankers place the candidates that answer a question."""
    from evaluation.answers import evidence as report  # noqa: PLC0415 - scikit-learn takes seconds to import

    with failures_told():
        figures = report.measure_evidence(data, runtime)
    out.print(report.evidence_table(figures))
    typer.echo(json.dumps(figures.to_json()))


@app.command()
def evidence_sets(
    data: Annotated[Path, typer.Option(help="The folder with questions/ and attribution/.")],
    out_file: Annotated[Path, typer.Option("--out", help="Where the rows go.")],
    only_set: Annotated[
        list[str] | None, typer.Option("--set", help="Write this set alone; for several, repeat.")
    ] = None,
) -> None:
    """Write rows for `evidence`, made of data sets in which people marked what answers a question."""
    from evaluation.answers import evidence_sets as sets  # noqa: PLC0415 - needed by this command alone

    with failures_told():
        made = sets.write_evidence_sets(data, out_file, only_set or ())
    out.print(sets.evidence_sets_table(made))
    typer.echo(json.dumps(sets.count_rows(made)))


@app.command()
def summary(
    comparison: Annotated[
        list[Path] | None, typer.Option(help="A comparison's JSON; may be given several times.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="A text that people wrote on the same, for ROUGE.")
    ] = None,
    judge: Annotated[str, typer.Option(help="A model that marks all summaries together (G-Score).")] = "",
    votes: Annotated[int, typer.Option(help="How often the judge is asked.", min=1, max=25)] = 5,
    without: Annotated[
        list[str] | None,
        typer.Option(help="Compare anew without elements, increments or reflection; for several, repeat."),
    ] = None,
    *,
    table: Annotated[
        bool,
        typer.Option("--table", help="Run ChatCite's experiment: this and the options below to --sections."),
    ] = False,
    corwa: Annotated[Path | None, typer.Option(help="JSON lines of tagged sections (CORWA).")] = None,
    anthology: Annotated[
        Path | None, typer.Option(help="The data directory of a copy of the ACL Anthology.")
    ] = None,
    out_folder: Annotated[
        Path | None, typer.Option("--out", help="Where sections that are finished are kept.")
    ] = None,
    writer: Annotated[str, typer.Option(help="What compares: extractive, or a model's id.")] = EXTRACTIVE,
    samples: Annotated[
        int, typer.Option(help="How many samples continue a summary.", min=1, max=MOST_SAMPLES)
    ] = 2,
    sections: Annotated[
        int | None, typer.Option(help="Measure on the first so many gold sections.", min=1)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print nothing but the JSON line.")] = False,
) -> None:
    """Measure comparative summaries: ROUGE, citations, how much they compare, and a judge's marks."""
    # rouge_score takes a second to import.
    from evaluation.summaries import experiment  # noqa: PLC0415
    from evaluation.summaries import summary_report as report  # noqa: PLC0415

    def say(line: str) -> None:
        typer.echo(line, err=True)

    figures: experiment.TableReport | report.SummaryReport
    with failures_told():
        if not table:
            asked = report.Asked(comparison or (), gold, judge, votes, report.read_parts(without or ()))
            figures = report.summary_report(asked, say)
            tables = report.summary_tables(figures)
        elif comparison or gold or without:
            raise EvaluationError("--table compares by itself. Leave --comparison, --gold and --without out.")
        elif corwa and anthology and out_folder:
            of_table = experiment.TableAsked(
                corwa, anthology, out_folder, writer, samples, sections, judge, votes
            )
            figures = experiment.table_report(of_table, say)
            tables = experiment.experiment_tables(figures)
        else:
            raise EvaluationError("--table takes --corwa, --anthology and --out. Give all three.")
    for shown in () if as_json else tables:
        out.print(shown)
    typer.echo(json.dumps(figures.to_json()))


@app.command()
def judge(
    turns: Annotated[
        list[str],
        typer.Option(help="A trail's JSON or a folder of them, as FILE or NAME=FILE; once for each system."),
    ],
    model: Annotated[str, typer.Option(help="The model that marks all answers to a question together.")],
    *,
    votes: Annotated[
        int | None,
        typer.Option(
            help="How often the judge is asked of each question; by default once for each system.",
            min=1,
            max=25,
        ),
    ] = None,
    out_file: Annotated[
        Path | None, typer.Option("--out", help="Where votes are kept; those in it are not asked for again.")
    ] = None,
    human: Annotated[
        Path | None,
        typer.Option(help="People's marks, JSON lines or CSV: question, system, a mark for each quality."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print nothing but the JSON line.")] = False,
) -> None:
    """Have answers of several systems marked by a model, and measure how far it agrees with people."""
    from evaluation.answers import judge as report  # noqa: PLC0415 - scipy takes a second to import

    with failures_told():
        asked = report.AskedToJudge(turns, model, votes, out_file, human)
        judged = report.judge_answers(asked, lambda line: typer.echo(line, err=True))
    for table in () if as_json else report.judge_tables(judged):
        out.print(table)
    typer.echo(json.dumps(judged.to_json(), allow_nan=False))
    if not judged.judged:
        raise typer.Exit(2)


@app.command()
def train_tags(
    corwa: Annotated[Path, typer.Option(help="JSON lines of sections whose sentences are tagged (CORWA).")],
    out_file: Annotated[Path, typer.Option("--out", help="Where the weights go.")] = TAG_WEIGHTS,
) -> None:
    """Train the classifier of related-work sentences and measure it on papers held back."""
    from evaluation.summaries import summary_report as report  # noqa: PLC0415 - rouge_score takes a second to import

    with failures_told():
        weights = report.train(corwa, out_file)
    out.print(report.tags_table(weights.provenance))
    typer.echo(json.dumps(weights.provenance))


def _aspects_table(figures: AspectFigures) -> Table:
    columns = [Column(metric.replace("rouge", "ROUGE-"), justify="right") for metric in METRICS]
    papers = counted(figures.papers, "paper")
    title = f"{papers}, split: {figures.split}; Llama's figures as printed by GenGO Ultra"
    without = " / ".join(str(figures.without_keywords[name]) for name in ASPECTS)
    caption = f"ROUGE-K without {without} summaries that share no keyword with the title"
    table = Table("Aspect", "Sentence", *columns, box=SIMPLE_HEAD, title=title, caption=caption)
    rows = {
        "Ours": figures.ours,
        "Lead": figures.lead,
        "Oracle": figures.oracle,
        "Llama-3.3-70B": LLAMA,
    }
    for name in ASPECTS:
        for label, scores in rows.items():
            cells = (f"{scores[name][metric]:.1f}" if metric in scores[name] else "" for metric in METRICS)
            table.add_row(name if label == "Ours" else "", label, *cells)
        table.add_section()
    return table


def _tldr_table(figures: TldrFigures) -> Table:
    columns = [Column(metric.replace("rouge", "ROUGE-"), justify="right") for metric in METRICS]
    title = f"{counted(figures.papers, 'paper')}, split: {figures.split}"
    caption = f"ROUGE-K without {counted(figures.without_keywords, 'paper')} whose texts share no keyword"
    table = Table("Over targets", "Sentence", *columns, box=SIMPLE_HEAD, title=title, caption=caption)
    rows = {
        "Ours": figures.ours,
        "Ours, not shortened": figures.unshortened,
        "Lead": figures.lead,
        "Oracle": figures.oracle,
    }
    for rule in OVER_TARGETS:
        for label, scores in rows.items():
            cells = (f"{scores[rule][metric]:.1f}" if metric in scores[rule] else "" for metric in METRICS)
            table.add_row(rule if label == "Ours" else "", label, *cells)
        table.add_section()
    return table


def _print_figures(figures: Mapping[str, object], decimals: int) -> None:
    """Print figures under the names that the JSON line has for them, and that line."""
    table = Table("What", Column("Figure", justify="right"), box=SIMPLE_HEAD)
    for name, figure in figures.items():
        shown = f"{figure:,.{decimals}f}" if isinstance(figure, float) else str(figure)
        table.add_row(name, f"{figure:,}" if isinstance(figure, int) else shown)
    out.print(table)
    typer.echo(json.dumps(figures))


def _search_table(speed: SearchSpeed) -> Table:
    table = Table("Search", "ms, median / p95", Column("Recall", justify="right"), box=SIMPLE_HEAD)
    table.title = (
        f"{speed['search_rows']:,} passages, written and indexed in {speed['search_build_seconds']:.0f} s"
    )
    everything = f"{speed['search_rows_ms_p50']:.0f} / {speed['search_rows_ms_p95']:.0f}"
    filtered = f"{speed['search_filtered_ms_p50']:.0f} / {speed['search_filtered_ms_p95']:.0f}"
    table.add_row("everything", everything, f"{speed['search_recall']:.4f}")
    table.add_row("one collection", filtered, f"{speed['search_filtered_recall']:.4f}")
    return table


app.command()(table_commands.table)
app.command()(table_commands.fetch)

# What people read of each figure, and how it is written.
_BENCH_ROWS = (
    ("Collection", "{collection}"),
    ("Passages", "{passages:,}"),
    ("Bare encoder, passages/s", "{bare_passages_per_s:.1f}"),
    ("Our encoder in torch, passages/s", "{torch_passages_per_s:.1f}"),
    ("Accelerated encoder, passages/s", "{accelerated_passages_per_s:.1f}"),
    ("Accelerated / torch", "{accelerated_to_torch:.2f}"),
    ("Build, passages/s", "{build_passages_per_s:.1f}"),
    ("Build / bare encoder", "{build_to_bare:.2f}"),
    ("Accelerated build, passages/s", "{accelerated_build_passages_per_s:.1f}"),
    ("Preparing the accelerated encoder, once, s", "{export_seconds:.1f}"),
    ("Passages embedded by a second build", "{passages_embedded_again}"),
    ("Second build, s", "{rebuild_seconds:.1f}"),
    ("Search, ms, median / p95", "{search_ms_p50:.0f} / {search_ms_p95:.0f}"),
    ("Answer without a model, ms, median / p95", "{answer_ms_p50:.0f} / {answer_ms_p95:.0f}"),
    ("Reading a follow-up, ms", "{follow_up_ms:.0f}"),
    (
        "Weighing ten claims of ten papers, ms, with its network / without",
        "{support_ms:.0f} / {support_without_network_ms:.0f}",
    ),
    ("Memory of the networks, MiB", "{learned_mib:.0f}"),
    (
        "Cold start to answer in the terminal, s, torch / accelerated",
        "{cold_answer_seconds_torch:.1f} / {cold_answer_seconds_accelerated:.1f}",
    ),
)


if __name__ == "__main__":
    app()
