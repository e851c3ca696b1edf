"""Formulas in the text of papers: told from prose, set apart from it, and only named beside their page."""

from hypothesis import given
from hypothesis import strategies as st

from corpus.records import Box, Passage, Sentence
from corpus.sentences import formulas_apart, is_formula, with_formulas_named

FORMULAS = (
    "Pr(f, a|e) = p(J|I) Y J p(aj |aj−1) p fj fieaj",
    "hub r + 1 ( ) ij * r ( ) m i = ∑∈ w authority m j (1)",
    "sim = |S1 ||S2 | X JCN(wni , wnj ), 1",
    "G2 = 2X nij log nij",
    "H0 z (1 + ˜z) Ωmat(1 + ˜z)3 +ΩK(1 + ˜z)2 where ΩK =1 − Ωm.",
)
PROSE = (
    "Define ya as ya(i, j) = 1 if aj = i, and 0 otherwise.",
    "We are given a sequence of English words e = e1, . . . , eI .",
    "For R1, we calculate the weighted MRR as (0.85*1 + 0.88*(1/2) + 0.79*1) / 3.",
    "Rule set 1 (0.85 on test): R1 R2 R3 Rule set 2 (0.88 on test): R2 R1 R4",
    "The F1 is 0.81.",
    "Poster Lexical + 194 61.78 Poster Lexical + 221",
    "=========",
    "10000 all PPER 1000",
    "",
)


def passage(*texts: str, boxes: tuple[Box, ...] = (Box(3, 72.0, 90.0, 200.0, 11.0),)) -> Passage:
    ends = [sum(len(text) + 1 for text in texts[: at + 1]) for at in range(len(texts))]
    ends[-1] -= 1
    spans = zip([0, *ends[:-1]], ends, strict=True)
    sentences = tuple(Sentence(start, end, boxes) for start, end in spans)
    return Passage("p#4", "p", "c", 4, "body", (), " ".join(texts), sentences)


def test_formulas_are_told_from_prose_and_stay_text_where_they_stand_on_no_page() -> None:
    assert [text for text in FORMULAS if not is_formula(text)] == []
    assert [text for text in PROSE if is_formula(text)] == []
    unplaced = passage(*FORMULAS, boxes=())
    assert [is_cut for is_cut, _ in formulas_apart(unplaced)] == [False]
    assert with_formulas_named(unplaced) == unplaced


@given(st.text())
def test_any_text_is_a_formula_or_none(text: str) -> None:
    assert is_formula(text) in (True, False)


@given(st.lists(st.sampled_from([*FORMULAS, *filter(None, PROSE)]), min_size=1, max_size=8))
def test_a_passage_set_apart_is_the_passage(texts: list[str]) -> None:
    parts = list(formulas_apart(passage(*texts)))
    said = [part.sentence_text(at) for _, part in parts for at in range(len(part.sentences))]
    assert said == texts
    cut = [is_cut for is_cut, part in parts for _ in part.sentences]
    assert cut == [text in FORMULAS for text in texts]
    named = with_formulas_named(passage(*texts))
    assert [named.sentence_text(at) for at in range(len(texts))] == [
        "[formula]" if text in FORMULAS else text for text in texts
    ]
