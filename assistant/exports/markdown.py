"""Conversations and comparisons as Markdown for readers, with foreign text escaped."""

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
    """Return a comparison as Markdown: the summary, its sources, then how it was made."""
    return render("comparison.md", comparison=comparison, text=_answer_text(comparison.answer))


def grid_to_markdown(comparison: Comparison) -> str:
    """Return the grid as a table in Markdown, with the support of each text."""
    return render("grid.md", comparison=comparison)


def _answer_text(answer: Answer) -> Markup:
    """Return an answer with everything escaped except the bullets of lists."""
    lines = []
    for line in answer.text.splitlines():
        is_item = line.lstrip().startswith(("- ", "* "))
        lines.append(f"- {escaped(line.lstrip()[2:])}" if is_item else escaped(line))
    return markup("\n".join(lines))
