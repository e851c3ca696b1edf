"""The evaluation's command line: each command prints a table for people and, last, one JSON line."""

from corpus.command_line import Command, lazy_app

COMMANDS = (
    Command(
        "table",
        "evaluation.commands.tables:table",
        "Measure a table of one of the three papers, with its printed rows beside ours.",
        panel="The papers' tables",
    ),
    Command(
        "fetch",
        "evaluation.commands.tables:fetch",
        "Fetch the data sets of the tables, or say which file to put where.",
        panel="The papers' tables",
    ),
    Command(
        "retrieval",
        "evaluation.commands.searching:retrieval",
        "Measure search on a collection with relevance judgements, through our own build and search.",
        panel="Search",
    ),
    Command(
        "peers",
        "evaluation.commands.searching:peers",
        "Measure our search beside paper-qa's and plain LanceDB's: same documents, questions and weights.",
        panel="Search",
    ),
    Command(
        "known-items",
        "evaluation.commands.searching:known_items",
        "Measure whether search finds known papers: by title, name, author or id, with a slip or without.",
        panel="Search",
    ),
    Command(
        "histories",
        "evaluation.commands.searching:histories",
        "Measure what an encoder finds in conversations, with four kinds of history (TruthReader's Table 4).",
        panel="Search",
    ),
    Command(
        "aspects",
        "evaluation.commands.reading:aspects",
        "Measure chosen challenges, approaches and outcomes against summaries that people wrote.",
        panel="Papers",
    ),
    Command(
        "tldr",
        "evaluation.commands.reading:tldr",
        "Measure the one sentence chosen from an abstract and shortened against those that people wrote.",
        panel="Papers",
    ),
    Command(
        "train-tldr",
        "evaluation.commands.reading:train_tldr",
        "Fit the weights that choose and shorten the one sentence on a paper.",
        panel="Papers",
    ),
    Command(
        "fields",
        "evaluation.commands.reading:fields",
        "Measure fields of study against labels that a reader gave.",
        panel="Papers",
    ),
    Command(
        "languages",
        "evaluation.commands.reading:languages",
        "Measure how surely the language of questions and of abstracts is told.",
        panel="Papers",
    ),
    Command(
        "corpus",
        "evaluation.commands.answering:corpus",
        "Measure a corpus as a whole, and keep the figures beside it: the About page shows them.",
        panel="Answers",
    ),
    Command(
        "questions",
        "evaluation.commands.answering:questions",
        "Ask questions that were written beforehand, count answers and refusals, and keep them to be judged.",
        panel="Answers",
    ),
    Command(
        "judged",
        "evaluation.commands.answering:judged",
        "Ask questions of which was judged what answers them, and count the sentences that do.",
        panel="Answers",
    ),
    Command(
        "tables-asked",
        "evaluation.commands.answering:tables_asked",
        "Ask questions about cells of tables, and count the answers from the row that is printed.",
        panel="Answers",
    ),
    Command(
        "judge",
        "evaluation.commands.answering:judge",
        "Have answers of several systems marked by a model, and measure how far it agrees with people.",
        panel="Answers",
    ),
    Command(
        "refusal",
        "evaluation.commands.answering:refusal",
        "Measure refusal without a model: questions asked of collections that can and cannot answer them.",
        panel="Answers",
    ),
    Command(
        "wordings",
        "evaluation.commands.answering:wordings",
        "Measure how steady answers are: in other words, of every full text, and where nothing is said.",
        panel="Answers",
    ),
    Command(
        "highlights",
        "evaluation.commands.answering:highlights",
        "Measure whether the first sentence about a paper's challenge, approach or outcome is highlighted.",
        panel="Answers",
    ),
    Command(
        "rewriting",
        "evaluation.commands.answering:rewriting",
        "Measure rewriting without a model against questions that people rewrote.",
        panel="Answers",
    ),
    Command(
        "attribution",
        "evaluation.commands.answering:attribution",
        "Measure overlap and support against human labels, and on claims made wrong on purpose.",
        panel="Answers",
    ),
    Command(
        "evidence",
        "evaluation.commands.answering:evidence",
        "Measure how high rankers place the candidates that answer a question.",
        panel="Answers",
    ),
    Command(
        "evidence-sets",
        "evaluation.commands.answering:evidence_sets",
        "Write rows for `evidence`, made of data sets in which people marked what answers a question.",
        panel="Answers",
    ),
    Command(
        "summary",
        "evaluation.commands.comparing:summary",
        "Measure comparative summaries: ROUGE, citations, how much they compare, and a judge's marks.",
        panel="Comparisons",
    ),
    Command(
        "train-tags",
        "evaluation.commands.comparing:train_tags",
        "Train the classifier of related-work sentences and measure it on papers held back.",
        panel="Comparisons",
    ),
    Command(
        "bench",
        "evaluation.commands.speed:bench",
        "Measure speed: builds beside the bare encoder, search, answers without a model, cold starts.",
        panel="Speed",
    ),
    Command(
        "bench-app",
        "evaluation.commands.speed:bench_app",
        "Measure the app: how quickly pages are drawn for many visitors, beside Streamlit's stock settings.",
        panel="Speed",
    ),
    Command(
        "latency",
        "evaluation.commands.speed:latency",
        "Measure what is added to a model's own time until its first words are on their way to the reader.",
        panel="Speed",
    ),
)

app = lazy_app("Measure Paper Trail.", COMMANDS)

if __name__ == "__main__":
    app()
