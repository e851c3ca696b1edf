"""Citations in sentences: any style becomes one token."""

import pytest

from evaluation.summaries.citation_style import CITE, neutralize

STYLES = [
    ("Lee et al. (2019) rank passages.", f"{CITE} rank passages.", 1),
    ("Lee and Kim (2019a) rank passages.", f"{CITE} rank passages.", 1),
    ("Lee (2019, 2020) ranks passages.", f"{CITE} ranks passages.", 2),
    ("Passages are ranked (Lee et al., 2019).", f"Passages are ranked {CITE}.", 1),
    (
        "Passages are ranked (Lee et al. 2019; van der Berg and Kim, 2020) .",
        f"Passages are ranked {CITE}.",
        2,
    ),
    ("Passages are ranked (see Lee, 2019, for more).", f"Passages are ranked {CITE}.", 1),
    ("Passages are ranked [3].", f"Passages are ranked {CITE}.", 1),
    ("Passages are ranked [3][4].", f"Passages are ranked {CITE}.", 2),
    ("Passages are ranked [3, 4] and read [5].", f"Passages are ranked {CITE} and read {CITE}.", 3),
    ("Lee et al. rank passages [3].", f"{CITE} rank passages.", 1),
    ("Lee et al. rank passages.", f"{CITE} rank passages.", 0),
    ("Müller-Schmidt et al. (2019) rank.", f"{CITE} rank.", 1),
    ("Lee et al. (2019) and Kim (2020) rank.", f"{CITE} rank.", 2),
    ("Passages are ranked (in 2019).", "Passages are ranked (in 2019).", 0),
    ("In 2019 passages of SemEval 2012 were ranked (see Section 3).", None, 0),
    ("Passages of a task (SemEval 2012) were ranked.", None, 0),
    ("Passages are ranked (Lee 2019).", f"Passages are ranked {CITE}.", 1),
    ("As Lee et al., 2019 and Kim and Lee, 2020 have it.", f"As {CITE} have it.", 2),
    ("", "", 0),
]


@pytest.mark.parametrize(("written", "read", "works"), STYLES)
def test_citations_of_any_style_become_one_token(written, read, works):
    found = neutralize(written)
    assert found.text == (written if read is None else read)
    assert len(found.cited) == works


@pytest.mark.parametrize(
    "piece", ["(", "Lee ", "Lee, ", "A-", "(Lee 2019 ", "de la ", "Lee and ", "[1, 2", "A"]
)
def test_no_text_takes_for_ever_to_read(piece):
    hostile = piece * (40_000 // len(piece))
    assert neutralize(hostile).text
