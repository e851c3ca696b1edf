"""The corpus for programs: typed requests, operations on a published corpus, and what is told of them."""
