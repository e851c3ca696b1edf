"""Conversations and comparisons as Markdown for people; all text of others is escaped."""

from markupsafe import Markup

from assistant.comparing.records import Comparison
from assistant.exports.escaping import escaped, markup
from assistant.exports.rendering import render
from assistant.records import Answer, Conversation


def to_markdown(conversation: Conversation) -> str:
    """Return a conversation as Markdown: answers, evidence, then what was sent."""
    texts = [_answer_text(turn.answer) for turn in conversation.turns]
    return render(
        "conversation.md", conversation=conversation, turns=list(zip(conversation.turns, texts, strict=True))
    )


def comparison_to_markdown(comparison: Comparison) -> str:
    """Return a comparison as Markdown: the summary first, then what it was made from, and how."""
    return render("comparison.md", comparison=comparison, text=_answer_text(comparison.answer))


def grid_to_markdown(comparison: Comparison) -> str:
    """Return the grid as a table in Markdown, the support beside each text."""
    return render("grid.md", comparison=comparison)


def _answer_text(answer: Answer) -> Markup:
    """Return the answer line by line: its lists stay lists, everything else is escaped."""
    lines = []
    for line in answer.text.splitlines():
        is_item = line.lstrip().startswith(("- ", "* "))
        lines.append(f"- {escaped(line.lstrip()[2:])}" if is_item else escaped(line))
    return markup("\n".join(lines))
