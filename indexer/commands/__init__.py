"""The indexer's commands: building, looking, keeping; `indexer.__main__` lists them."""
