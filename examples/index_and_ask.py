"""Index a folder of papers, then ask them a question.

python examples/index_and_ask.py FOLDER "QUESTION"
"""

import sys
from pathlib import Path

from assistant import open_assistant
from corpus.encoder_choice import open_encoder
from corpus.records import Collection
from corpus.settings import read_settings
from indexer.build.run import build_collections
from indexer.sources.folder import FOLDER_SUFFIXES, Folder


def main(folder: str, question: str) -> None:
    settings = read_settings()  # from the environment: PAPER_TRAIL_HOME and the others
    papers = Folder(Path(folder), Collection("my-papers", "My papers"), FOLDER_SUFFIXES)
    (build,) = build_collections(settings, open_encoder(settings), [papers], progress=print)
    print(f"{build.added} papers added, {build.unchanged} unchanged, {len(build.failures)} failed")
    for failure in build.failures:
        print(f"  {failure.item}: {failure.reason}")

    turn = open_assistant().answer(question)
    if turn.answer.refusal:
        print("Not answered:", turn.answer.refusal.message)
        return
    print(turn.answer.text)
    for labelled in turn.evidence.papers:
        print(f"[{labelled.label}] {labelled.paper.title}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
