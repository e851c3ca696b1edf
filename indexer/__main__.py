"""The indexer's command line: paper collections in, corpus out."""

import os
import signal

if __name__ == "__main__":
    # An interrupt while typer is imported would print a traceback.
    _on_interrupt = signal.signal(signal.SIGINT, lambda *_: os._exit(130))

from corpus.command_line import Command, lazy_app

COMMANDS = (
    Command(
        "demo",
        "indexer.commands.building:demo",
        "Index the demonstration collection.",
        panel="Bring papers in",
    ),
    Command(
        "acl",
        "indexer.commands.building:acl",
        "Index volumes of the ACL Anthology: titles and abstracts, and full texts where PDFs are at hand.",
        panel="Bring papers in",
    ),
    Command(
        "arxiv",
        "indexer.commands.building:arxiv",
        "Index papers of arXiv: what a query finds now, or papers by their ids.",
        panel="Bring papers in",
    ),
    Command(
        "folder",
        "indexer.commands.building:folder",
        "Index a folder of papers, one file each: PDF, TEI, Markdown, plain text, Word.",
        panel="Bring papers in",
    ),
    Command(
        "pdfs",
        "indexer.commands.building:pdfs",
        "Index the PDFs of a folder, one paper each.",
        panel="Bring papers in",
    ),
    Command(
        "tei",
        "indexer.commands.building:tei",
        "Index a folder of GROBID's TEI files, one paper each.",
        panel="Bring papers in",
    ),
    Command(
        "zotero",
        "indexer.commands.building:zotero",
        "Index a Zotero library from its data directory; Zotero may be running.",
        panel="Bring papers in",
    ),
    Command(
        "references",
        "indexer.commands.building:references",
        "Index a file of references (CSL-JSON, BibTeX, RIS) with the files beside it that it names.",
        panel="Bring papers in",
    ),
    Command("status", "indexer.commands.looking:status", "Print what the corpus holds.", panel="Look"),
    Command(
        "report",
        "indexer.commands.looking:report",
        "Print what the last build did: counts, speed, memory, what failed and what is odd.",
        panel="Look",
    ),
    Command(
        "verify",
        "indexer.commands.looking:verify",
        "Check that the corpus is whole; ends with exit code 1 when it is not.",
        panel="Look",
    ),
    Command(
        "doctor",
        "indexer.commands.looking:doctor",
        "Print what can be reached: GROBID server, encoder, corpus, disk; exit code 1 with any problem.",
        panel="Look",
    ),
    Command(
        "read",
        "indexer.uploads.reading:read",
        "Read one file or web page and print its title, sections and passages; the corpus stays as it is.",
        panel="Look",
    ),
    Command(
        "reparse",
        "indexer.commands.building:reparse",
        "Read kept PDFs again that another parser read; a paper it cannot read stays as it was.",
        panel="Keep",
    ),
    Command(
        "enrich",
        "indexer.commands.enriching:enrich",
        "Have a model write challenge, approach and outcome; what the paper does not carry is dropped.",
        panel="Keep",
    ),
    Command(
        "remove", "indexer.commands.keeping:remove", "Remove a collection from the corpus.", panel="Keep"
    ),
    Command(
        "compact",
        "indexer.commands.keeping:compact",
        "Free disk space: old versions, PDFs and TEI of papers that are gone, unfinished builds.",
        panel="Keep",
    ),
)

app = lazy_app("Read paper collections into the corpus.", COMMANDS)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, _on_interrupt)
    app()
