"""The scores: their computation, their quality, and their limits."""

import streamlit as st
from pydantic import BaseModel, field_validator

from assistant.checking.scorer import support_weights
from assistant.checking.thresholds import thresholds
from explorer.components.score_bar import meaning, score_bars
from explorer.presenters.safe_text import escaped


class Quality(BaseModel):
    """The support score's card: the claims it was trained on, and AUROC on others by set."""

    judged: dict[str, int]
    scaled_on: dict[str, int]
    cross_validated: dict[str, float]
    other_sets_only: dict[str, float]

    @field_validator("cross_validated", "other_sets_only", mode="before")
    @classmethod
    def _aurocs(cls, found: dict[str, dict[str, dict[str, float]]]) -> dict[str, float]:
        """Return the AUROC of each set, of the score with the network."""
        sets = found["with the network"]
        return {name: figures["auroc"] for name, figures in sets.items() if "auroc" in figures}


def draw_scores() -> None:
    """Draw the meaning of the bars, examples, and the quality of the scores."""
    bars = thresholds().overlap
    st.markdown(escaped(meaning()))
    st.html(
        "".join(
            score_bars(score, score) for score in (bars.partial / 2, (bars.partial + bars.strong) / 2, 0.9)
        )
    )
    st.markdown(
        "A high overlap can still be wrong: a changed number or a missing “not” leaves most words in place. "
        "A low one can be right, when the writer used other words. Support is there for both: it is an "
        "estimate, and it errs too. Where the two bars disagree, look twice."
    )
    st.subheader("How good support is", anchor=False)
    for sentence in format_quality(Quality.model_validate(support_weights().provenance)):
        st.markdown(escaped(sentence))
    st.subheader("What an answer’s own figures are", anchor=False)
    bars_of_relevance = thresholds().relevance
    st.markdown(
        "Relevance says how likely what an answer says answers the question, whatever it cites: a network "
        "and plain signs read question and sentences side by side. Below "
        f"{bars_of_relevance.partial:.2f} the answer may miss the question, which is said before it; from "
        f"{bars_of_relevance.strong:.2f} on it likely answers it. An answer can be well supported and beside "
        "the point."
    )
    st.markdown(
        "Citation recall is the share of its claims that what they cite supports; citation precision the "
        f"share of its citations that are needed for that. Supported means support from "
        f"{thresholds().support.supported:.2f} on. What cites nothing is shown and marked; where nothing is "
        "carried by what it cites, no answer is shown, but the nearest passages are."
    )


def format_quality(quality: Quality) -> list[str]:
    """Describe in sentences how well the support score separates supported claims from others."""
    rows = "; ".join(
        f"{name}: {_cases(auroc)}, and weighed without that set {_cases(quality.other_sets_only[name])}"
        for name, auroc in quality.cross_validated.items()
        if name in quality.other_sets_only
    )
    return [
        f"Its network was taught by claims that people have judged: {_counted(quality.judged)}. "
        f"What it says is weighed beside other signs on {_counted(quality.scaled_on)}.",
        "Of a supported and an unsupported claim that it has not seen, in so many of 100 cases it puts the "
        f"supported one higher: {rows}. Chance is 50.",
    ]


def _counted(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} of {name}" for name, number in counts.items())


def _cases(share: float) -> str:
    return str(int(100 * share))
