"""Optional calls to a model beside the answer: to rerank the papers, and to revise the draft.

Papers are reranked listwise, as in RankGPT; a draft is revised against its evidence.
"""

import re
from dataclasses import replace

from assistant.checking.citations import read_labels
from assistant.prompts.echoes import is_repeated
from assistant.prompts.material import render_evidence
from assistant.prompts.render import as_data, as_written, load_prompt, mark, no_answer_reason
from assistant.records import Draft, Evidence, Message, Rewrite

# Tokens of a line of labels.
RANK_TOKENS = 80
_LABEL = re.compile(r"\d{1,3}")


def rank_messages(rewrite: Rewrite, evidence: Evidence) -> tuple[Message, ...]:
    """Render the prompt that asks which papers are relevant to a question."""
    return load_prompt("rerank").render(
        papers=render_evidence(evidence), question=as_data(rewrite.searched_for)
    )


def ranked(reply: str, evidence: Evidence) -> Evidence:
    """Return the papers that a reply names, best first; all of them, unchanged, if it names none."""
    line = next((line for line in reply.splitlines() if _LABEL.search(line)), "")
    named = dict.fromkeys(int(label) for label in _LABEL.findall(line))
    papers = tuple(paper for label in named if (paper := evidence.paper(label)))
    return replace(evidence, papers=papers) if papers else evidence


def revise_messages(rewrite: Rewrite, evidence: Evidence, draft: str) -> tuple[Message, ...]:
    """Render the prompt that asks for a draft without the claims its papers do not support."""
    return load_prompt("revise").render(
        papers=render_evidence(evidence),
        question=as_data(rewrite.question),
        draft=f"{mark('draft')}\n{as_written(draft)}\n{mark('end of draft')}",
    )


def revised(draft: Draft, reply: str, finish_reason: str, evidence: Evidence) -> Draft:
    """Return the revised draft, or the draft itself if the reply is incomplete or cites nothing."""
    labels = {paper.label for paper in evidence.papers}
    cites = read_labels(reply, labels).labels or no_answer_reason(reply) is not None
    is_whole = finish_reason == "stop" and not is_repeated(reply)
    return replace(draft, text=reply) if is_whole and cites else draft
