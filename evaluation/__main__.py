"""The evaluation's command line: each command prints a table for people and, last, one JSON line."""

from corpus.command_line import Command, lazy_app


def _panel(title: str, *commands: tuple[str, str, str]) -> tuple[Command, ...]:
    return tuple(Command(name, f"evaluation.{target}", text, panel=title) for name, target, text in commands)


COMMANDS = (
    *_panel(
        "The papers' tables",
        (
            "table",
            "commands.tables:table",
            "Measure a table of one of the three papers, with its printed rows beside ours.",
        ),
        (
            "fetch",
            "commands.tables:fetch",
            "Fetch the data sets of the tables, or say which file to put where.",
        ),
    ),
    *_panel(
        "Search",
        (
            "retrieval",
            "retrieval:retrieval",
            "Measure search on a collection with relevance judgements, through our own build and search.",
        ),
        (
            "peers",
            "peers.comparison:peers",
            "Measure our search beside paper-qa's and plain LanceDB's: same documents, questions and weights.",
        ),
        (
            "known-items",
            "known_items:known_items_command",
            "Measure whether search finds known papers: by title, name, author or id, with a slip or without.",
        ),
        (
            "histories",
            "histories:histories",
            "Measure what an encoder finds in conversations, with four kinds of history (TruthReader's Table 4).",
        ),
    ),
    *_panel(
        "Papers",
        (
            "aspects",
            "paper_summaries:aspects",
            "Measure chosen challenges, approaches and outcomes against summaries that people wrote.",
        ),
        (
            "tldr",
            "paper_summaries:tldr",
            "Measure the one sentence chosen from an abstract and shortened against those that people wrote.",
        ),
        (
            "train-tldr",
            "train_tldr:train_tldr",
            "Fit the weights that choose and shorten the one sentence on a paper.",
        ),
        ("fields", "fields:fields", "Measure fields of study against labels that a reader gave."),
        (
            "languages",
            "languages:languages",
            "Measure how surely the language of questions and of abstracts is told.",
        ),
    ),
    *_panel(
        "Answers",
        (
            "corpus",
            "corpus_figures:corpus",
            "Measure a corpus as a whole, and keep the figures beside it: the About page shows them.",
        ),
        (
            "questions",
            "answers.questions:questions",
            "Ask questions that were written beforehand, count answers and refusals, and keep them to be judged.",
        ),
        (
            "judged",
            "judged:judged",
            "Ask questions of which was judged what answers them, and count the sentences that do.",
        ),
        (
            "tables-asked",
            "answers.table_questions:tables_asked",
            "Ask questions about cells of tables, and count the answers from the row that is printed.",
        ),
        (
            "judge",
            "commands.answering:judge",
            "Have answers of several systems marked by a model, and measure how far it agrees with people.",
        ),
        (
            "refusal",
            "answers.refusal:refusal",
            "Measure refusal without a model: questions asked of collections that can and cannot answer them.",
        ),
        (
            "wordings",
            "answers.wordings:wordings",
            "Measure how steady answers are: in other words, of every full text, and where nothing is said.",
        ),
        (
            "highlights",
            "answers.highlights:highlights",
            "Measure whether the first sentence about a paper's challenge, approach or outcome is highlighted.",
        ),
        (
            "rewriting",
            "answers.rewriting:rewriting",
            "Measure rewriting without a model against questions that people rewrote.",
        ),
        (
            "attribution",
            "answers.attribution.agreement:attribution",
            "Measure overlap and support against human labels, and on claims made wrong on purpose.",
        ),
        (
            "evidence",
            "answers.evidence.ranking:evidence",
            "Measure how high rankers place the candidates that answer a question.",
        ),
        (
            "evidence-sets",
            "answers.evidence.sets:evidence_sets",
            "Write rows for `evidence`, made of data sets in which people marked what answers a question.",
        ),
    ),
    *_panel(
        "Comparisons",
        (
            "summary",
            "commands.comparing:summary",
            "Measure comparative summaries: ROUGE, citations, how much they compare, and a judge's marks.",
        ),
        (
            "train-tags",
            "commands.comparing:train_tags",
            "Train the classifier of related-work sentences and measure it on papers held back.",
        ),
    ),
    *_panel(
        "Speed",
        (
            "bench",
            "commands.speed:bench",
            "Measure speed: builds beside the bare encoder, search, answers without a model, cold starts.",
        ),
        (
            "bench-app",
            "commands.speed:bench_app",
            "Measure the app: how quickly pages are drawn for many visitors, beside Streamlit's stock settings.",
        ),
        (
            "latency",
            "commands.speed:latency",
            "Measure what is added to a model's own time until its first words are on their way to the reader.",
        ),
    ),
)

app = lazy_app("Measure Paper Trail.", COMMANDS)

if __name__ == "__main__":
    app()
