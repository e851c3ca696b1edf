"""A build: sources to staged rows to a published corpus."""

from indexer.build.encode import EncodedPassages, encode_passages
from indexer.build.engines import Engine, EngineName, open_engine
from indexer.build.run import AS_USUAL, BuildOptions, build_collection, build_collections, unfinished
from indexer.build.staging import Staging

__all__ = [
    "AS_USUAL", "BuildOptions", "EncodedPassages", "Engine", "EngineName", "Staging", "build_collection",
    "build_collections", "encode_passages", "open_engine", "unfinished"
]  # fmt: skip
