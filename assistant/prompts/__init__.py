"""The prompts, one text file per model call, and what fills them in."""

from assistant.prompts.material import (
    SPARE_TOKENS,
    estimate_tokens,
    fit_evidence,
    render_evidence,
    render_history,
    render_passage,
    shown_turns,
)
from assistant.prompts.render import (
    NO_ANSWER,
    SummaryForm,
    as_data,
    as_line,
    as_written,
    form,
    load_prompt,
    mark,
    no_answer_reason,
    task,
)

__all__ = [
    "NO_ANSWER", "SPARE_TOKENS", "SummaryForm", "as_data", "as_line", "as_written", "estimate_tokens",
    "fit_evidence", "form", "load_prompt", "mark", "no_answer_reason", "render_evidence", "render_history",
    "render_passage", "shown_turns", "task"
]  # fmt: skip
