"""The training's command line."""

from corpus.command_line import Command, lazy_app

ABOUT = {
    "choice": "Fit which sentences are chosen and what is refused, beside the relevance part's network.",
    "data": "Make cited dialogues of documents to train a generator on (TruthReader, section 4.2.1).",
    "follow-ups": "Learn what follow-ups mean, from conversations with self-contained questions.",
    "generator": "Train a language model to answer with citations: LoRA, merged when done.",
    "relevance": "Learn which texts answer a question, from questions with marked answers.",
    "retriever": "Fine-tune the bundled sentence encoder to find passages (TruthReader, section 4.1).",
    "support": "Learn how far evidence supports a claim, from judged claims and altered ones.",
}
COMMANDS = tuple(
    Command(name, f"training.commands:{name.replace('-', '_')}", about) for name, about in ABOUT.items()
)

app = lazy_app("Train what Paper Trail learns.", COMMANDS)

if __name__ == "__main__":
    app()
