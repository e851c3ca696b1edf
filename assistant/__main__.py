"""The assistant's command line: ask and compare from the terminal, keep, export and replay."""

import os
import signal

if __name__ == "__main__":
    # An interrupt while typer is imported would print a traceback.
    _on_interrupt = signal.signal(signal.SIGINT, lambda *_: os._exit(130))

from corpus.command_line import Command, lazy_app

COMMANDS = (
    Command(
        "ask",
        "assistant.commands.asking:ask",
        "Answer a question from the corpus, every sentence cited and scored.",
        is_brief=True,
    ),
    Command(
        "compare",
        "assistant.commands.comparing:compare",
        "Compare papers: one cited summary, what each says to seven questions, and how it came about.",
        is_brief=True,
    ),
    Command(
        "export",
        "assistant.commands.exporting:export",
        "Write a conversation or a comparison as JSON, Markdown, HTML or Word, or its references.",
        is_brief=True,
    ),
    Command(
        "replay",
        "assistant.commands.replaying:replay",
        "Do a recorded conversation or comparison again on the corpus as it was, and say what is equal.",
        is_brief=True,
    ),
    Command(
        "schema",
        "assistant.commands.exporting:schema",
        "Print the JSON Schema of transcripts, or of comparisons, as the files in docs/ hold them.",
        is_brief=True,
    ),
    Command(
        "models",
        "assistant.commands.models:app",
        "List the language models that can be chosen as writers, and fetch weights of small ones.",
        is_brief=True,
    ),
    Command(
        "mcp",
        "assistant.commands.serving:mcp",
        "Serve the corpus as tools over standard input and output, by the Model Context Protocol.",
        is_brief=True,
    ),
    Command(
        "conversations",
        "assistant.commands.keeping:conversations",
        "List, show, rename, delete, import and export stored conversations.",
        is_brief=True,
    ),
    Command(
        "comparisons",
        "assistant.commands.keeping:comparisons",
        "List, show, rename, delete, import and export stored comparisons.",
        is_brief=True,
    ),
    Command(
        "reading",
        "assistant.commands.reading:app",
        "List, export and delete what readers keep of papers: notes, reading lists, what they follow.",
        is_brief=True,
    ),
    Command(
        "libraries",
        "assistant.commands.libraries:libraries",
        "List, show, rename, export and delete the libraries that visitors keep.",
        is_brief=True,
    ),
)

app = lazy_app("Ask the corpus, compare its papers, and serve it to other programs.", COMMANDS)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, _on_interrupt)
    app()
