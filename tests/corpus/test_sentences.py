"""Tests of corpus.sentences: each case is a text with the places of its boundaries marked by a bar."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.sentences import sentence_spans

CASES = (
    "One sentence.",
    "It works. |It scales.",
    "We follow Smith et al. (2020) here. |It helps.",
    "We follow Smith et al. |We then extend them.",
    "As Smith et al. Report, it helps. |Good.",
    "See Fig. 3 and Eq. (2) in Sec. 4. |Done.",
    "See Figs. 3 and 4, Tab. II and App. B. |Done.",
    "We use words, e.g. nouns, i.e. Names, vs. verbs, cf. Table 1. |Done.",
    "Dr. Lee and Prof. J. K. Smith agree. |Others do not.",
    "The value is 3.14 at p < 0.05. |It rose by .5 to v1.2.3. |Done.",
    "It was shown before (Smith et al., 2020). |We agree.",
    "It was shown [3]. |We agree [4, 5]. |Done.",
    "It was shown. [3] |We agree. [4][5] |Done. [6]",
    "It was shown.[3] |We agree.",
    "It was shown. |[3] shows the opposite.",
    "Wait... what? |Yes! |It ended... |Then it began.",
    "See https://example.org/a.B?c=D. |Next, www.Example.org works.",
    'He said "stop." |Then he left.',
    "He said (quietly). |Then he left.",
    "This is “it.” |“Really?” |Yes.",
    "We collected a dataset.|We also cleaned it.",
    "It uses [2].|The model learns.",
    "We use Node.js and numpy.Array and System.Out daily.",
    "The U.S. Army agreed. |It was in the U.S. |The end.",
    "It helps vitamin C. |We agree.",
    "In 2020. |15 people came.",
    "# Heading\n\n|- first item\n|- second item. |It has two.\n|1. Third item\n|2. Fourth item\n\n|The end.",
    "This line of running text was wrapped at some width and\ngoes on in the next. |Done.",
    "A title\n|This is the text.",
    "First line ends.\n|Second line.",
    "**Bold heading**\n|Text follows it here.",
    "1. Introduction",
    "它有效。|它很快！|完。",
    "  Leading space. |Trailing space.  ",
    "No full stop at the end",
    "We used 5 ml of saline (approx. 2 mg per dose). |It helped.",
    "The i.i.d. Assumption holds. |We use it.",
    "It was tested by Jan. 5 on pp. 12-15 of vol. 3. |Done.",
)

# As they stand in abstracts of the Anthology: the space after the full stop was lost.
LOST_SPACES = (
    "It balances exploration and exploitation.|Experiments on three tasks agree.",
    "It can raise annotator productivity.|QuickGraph’s main parts are two. |QuickGraph helps.",
    "They are very expensive.|Unfortunately, we need them.",
    "We ask what these models construct?|Human readers differ.",
    "It needs electronic records (EMRs).|Existing methods do not.",
    "It is built from KGs.|For this we align them to Wikidata.",
    "We train on F1-score.|All codes are public.",
    "It is more efficient.|HashEE can be used at once. |We show that HashEE is small.",
)
WHOLE = (
    "It works, e.g.The one, i.e.This one, and etc.The rest.",
    "We follow Smith et al.The rest is as in Fig.2 and Eq.3 of Sec.IV.",
    "It was in the U.S.In all of p.The pages.",
    "See example.org/Data.The.html and Final.Report.pdf or www.Example.com today.",
    "We use numpy.Array, torch.Tensor, java.util.List, System.Out and C#.NET daily.",
    "From v1.2.3 to 3.5B it rose by 2.0F in WN.Pr and cs.CL and SUPP.AI too.",
    "We translate German!English and English!German texts.",
    "It is U.S. law, and Lee wrote Pr.A.Ti.D for the Ph.D. thesis.",
)


@pytest.mark.parametrize("marked", [*CASES, *LOST_SPACES, *WHOLE])
def test_boundaries(marked: str) -> None:
    text = marked.replace("|", "")
    assert "|".join(text[start:end] for start, end in sentence_spans(text)) == marked


@given(
    st.sampled_from(["tasks", "task", "data", "(NMT)", "word"]),
    st.sampled_from("We The Results Our In".split()),
)
def test_a_sentence_without_a_space_after_the_full_stop_is_separated(last: str, first: str) -> None:
    before, after = f"We show gains on {last}.", f"{first} agree with it."
    assert sentence_spans(before + after) == ((0, len(before)), (len(before), len(before + after)))


def test_empty_text_has_no_sentences_and_white_space_one() -> None:
    assert sentence_spans("") == ()
    assert sentence_spans(" \n ") == ((0, 3),)


PIECES = st.sampled_from(["\n", "\n\n", *'et al.~Fig.~ ~- ~1. ~. ~.~?~...~[1]~(~)~"~The~a~3'.split("~")])


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_spans_cover_the_text_without_gap(text: str) -> None:
    spans = sentence_spans(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(start < end for start, end in spans)
    assert [end for _, end in spans[:-1]] == [start for start, _ in spans[1:]]


@given(st.text())
def test_no_sentence_of_white_space_only(text: str) -> None:
    if text.strip():
        assert all(text[start:end].strip() for start, end in sentence_spans(text))


@pytest.mark.parametrize(
    "part",
    ["\n", "- a\n", "\n ", *'.~a. B~word.Word ~word.WordName ~[1,~.[1] ~.  [1]  ~1. ~."~Fig. '.split("~")],
)
def test_time_grows_with_the_length_only(part: str) -> None:
    def seconds(count: int) -> float:
        text = part * count
        begin = time.process_time()  # other processes take their time too
        sentence_spans(text)
        return time.process_time() - begin

    seconds(1000)
    assert seconds(80_000) < 40 * seconds(4_000) + 0.3
