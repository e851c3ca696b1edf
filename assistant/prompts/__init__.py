"""The prompts, one text file per model call, and what fills them in."""

from assistant.prompts.echoes import is_looped, is_repeated, tells_example, without_echo
from assistant.prompts.material import (
    ANSWERED,
    ASKED,
    BYTES_PER_TOKEN,
    SPARE_TOKENS,
    estimate_tokens,
    fit_evidence,
    in_rank_order,
    render_evidence,
    render_history,
    render_passage,
    shown_turns,
)
from assistant.prompts.render import (
    MARKS,
    NO_ANSWER,
    SummaryForm,
    as_data,
    as_line,
    as_written,
    example,
    form,
    load_prompt,
    mark,
    no_answer_reason,
    short_task,
    task,
)

__all__ = [
    "ANSWERED", "ASKED", "BYTES_PER_TOKEN", "MARKS", "NO_ANSWER", "SPARE_TOKENS", "SummaryForm", "as_data",
    "as_line", "as_written", "estimate_tokens", "example", "fit_evidence", "form", "in_rank_order",
    "is_looped", "is_repeated", "load_prompt", "mark", "no_answer_reason", "render_evidence",
    "render_history", "render_passage", "short_task", "shown_turns", "task", "tells_example", "without_echo"
]  # fmt: skip
