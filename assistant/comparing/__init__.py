"""Comparative literature summaries: ChatCite's key elements, incremental comparison and reflection."""

from assistant.bounds import LONGEST_DESCRIPTION
from assistant.comparing.admission import (
    FEWEST_PAPERS,
    MOST_KEPT,
    MOST_PAPERS,
    MOST_SAMPLES,
    MOST_VOTES,
    NO_MODEL,
    admit_comparison,
    check_applicable,
    named_twice,
)
from assistant.comparing.algorithm import UnusableRoundError
from assistant.comparing.choice import open_comparative_generator
from assistant.comparing.compare import Comparer
from assistant.comparing.differences import Differences, differences
from assistant.comparing.extractive.generator import ExtractiveComparer
from assistant.comparing.grid import ELEMENT_TITLES, Grid, GridCell, GridOrder, GridRow, element_grid
from assistant.comparing.ledger import CallLedger, Task
from assistant.comparing.prompted.generator import PromptedComparer, form_asked_for
from assistant.comparing.prompted.material import (
    render_description,
    same_material,
    shortenings,
    with_description,
    with_passages,
)
from assistant.comparing.prompted.replies import summary_words
from assistant.comparing.protocol import (
    ComparativeGenerator,
    ComparisonStep,
    ReflectiveGenerator,
    SourceText,
)
from assistant.comparing.records import (
    DESCRIPTION,
    ELEMENT_NAMES,
    Ablation,
    Candidate,
    Compared,
    Comparison,
    ComparisonError,
    ComparisonEvent,
    ComparisonOptions,
    ComparisonRequest,
    ElementEvidence,
    Extracted,
    KeyElement,
    KeyElements,
    PaperOrder,
    Planned,
    Round,
    RoundFinished,
    Sampled,
    TextKind,
    TooLongError,
    Vote,
    Voted,
    WorkCall,
    Working,
    task_name,
)
from assistant.comparing.wording import (
    DIFFERENCES_NOTE,
    ORDERS,
    comparison_facts,
    describe_budget,
    describe_candidate,
    describe_common,
    describe_distinct,
    describe_faults,
    describe_grid,
    describe_method,
    describe_options,
    describe_reuse,
    describe_round,
    describe_stated,
    describe_vote,
)

__all__ = [
    "DESCRIPTION", "DIFFERENCES_NOTE", "ELEMENT_NAMES", "ELEMENT_TITLES", "FEWEST_PAPERS",
    "LONGEST_DESCRIPTION", "MOST_KEPT", "MOST_PAPERS", "MOST_SAMPLES", "MOST_VOTES", "NO_MODEL", "ORDERS",
    "Ablation", "CallLedger", "Candidate", "ComparativeGenerator", "Compared", "Comparer", "Comparison",
    "ComparisonError", "ComparisonEvent", "ComparisonOptions", "ComparisonRequest", "ComparisonStep",
    "Differences", "ElementEvidence", "Extracted", "ExtractiveComparer", "Grid", "GridCell", "GridOrder",
    "GridRow", "KeyElement", "KeyElements", "PaperOrder", "Planned", "PromptedComparer",
    "ReflectiveGenerator", "Round", "RoundFinished", "Sampled", "SourceText", "Task", "TextKind",
    "TooLongError", "UnusableRoundError", "Vote", "Voted", "WorkCall", "Working", "admit_comparison",
    "check_applicable", "comparison_facts", "describe_budget", "describe_candidate", "describe_common",
    "describe_distinct", "describe_faults", "describe_grid", "describe_method", "describe_options",
    "describe_reuse", "describe_round", "describe_stated", "describe_vote", "differences", "element_grid",
    "form_asked_for", "named_twice", "open_comparative_generator", "render_description", "same_material",
    "shortenings", "summary_words", "task_name", "with_description", "with_passages"
]  # fmt: skip
