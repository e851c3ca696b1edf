"""The training's command line."""

from corpus.command_line import Command, lazy_app

COMMANDS = (
    Command(
        "choice",
        "training.commands:choice",
        "Fit anew which sentences are chosen and what is refused; the network of the relevance part stays.",
    ),
    Command(
        "data",
        "training.commands:data",
        "Make cited dialogues of documents to train a generator on (TruthReader, section 3.1).",
    ),
    Command(
        "follow-ups",
        "training.commands:follow_ups",
        "Learn what follow-ups mean, from conversations whose questions people made self-contained.",
    ),
    Command(
        "generator",
        "training.commands:generator",
        "Train a generator to answer with citations: LoRA on a causal language model, merged when done.",
    ),
    Command(
        "relevance",
        "training.commands:relevance",
        "Learn which texts answer a question, from questions of which people marked what answers them.",
    ),
    Command(
        "retriever",
        "training.commands:retriever",
        "Fine-tune the bundled sentence encoder to find passages (TruthReader, section 3.2).",
    ),
    Command(
        "support",
        "training.commands:support",
        "Learn how far evidence carries a claim, from claims that people judged and claims made wrong.",
    ),
)

app = lazy_app("Train what Paper Trail learns.", COMMANDS)

if __name__ == "__main__":
    app()
