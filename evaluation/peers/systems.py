"""The systems that are compared, and what each is set to; read by the peers' own processes too."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

OURS = "ours"
DEPTH = 100  # as deep as `evaluation.retrieval` judges, which needs more than a peer has

_NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class System:
    """A peer under one setting; those of the same module and build are asked of one index.

    Where `build` or `search` does not name a setting, it is the peer's default.
    """

    name: str
    module: str
    says: str
    build: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    search: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)

    @property
    def settings(self) -> dict[str, Any]:
        return {"build": dict(self.build), "search": dict(self.search)}


_LANCEDB = "evaluation.peers.lancedb_hybrid"
_PAPER_QA = "evaluation.peers.paper_qa"

PEERS = (
    System("lancedb", _LANCEDB, "hybrid search with RRFReranker, ten results, its default"),
    System("lancedb-100", _LANCEDB, "the same, asked for a hundred", search={"limit": DEPTH}),
    System("paper-qa", _PAPER_QA, "Docs.retrieve_texts, its defaults: ten texts, MMR off (lambda 1)"),
    System(
        "paper-qa-store",
        _PAPER_QA,
        "its NumpyVectorStore asked directly for a hundred",
        search={"through": "store", "k": DEPTH},
    ),
    System(
        "paper-qa-mmr",
        _PAPER_QA,
        "the same with its MMR, lambda 0.9",
        search={"through": "store", "k": DEPTH, "mmr_lambda": 0.9},
    ),
    System(
        "paper-qa-hybrid",
        _PAPER_QA,
        "its hybrid embedding (vector and token counts), the store asked for a hundred",
        build={"embedding": "hybrid"},
        search={"through": "store", "k": DEPTH},
    ),
)
