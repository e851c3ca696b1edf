"""Processes that read foreign files, kept by the system from what they have no need of."""

from corpus.sandbox.limits import (
    PATIENCE,
    bound,
    bound_all_processor_time,
    bound_memory,
    bound_processor_time,
    grant,
)
from corpus.sandbox.seccomp import refused_calls
from corpus.sandbox.confinement import (
    Confinement,
    ConfinementError,
    confine,
    forbid_network,
    has_other_threads,
    offered_confinement,
    unconfined,
)

__all__ = [
    "PATIENCE", "Confinement", "ConfinementError", "bound", "bound_all_processor_time", "bound_memory",
    "bound_processor_time", "confine", "forbid_network", "grant", "has_other_threads", "offered_confinement",
    "refused_calls", "unconfined"
]  # fmt: skip
