"""Whatever papers and models write, Markdown shows it and does nothing else."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from explorer.presenters.safe_text import (
    JOINER,
    answer_markdown,
    escaped,
    label_offsets,
    marked_terms,
    one_line,
    shortened,
    web_address,
)

PAYLOADS = [
    "![x](http://evil.example/a.png)",
    "<img src=http://evil.example/a.png onerror=alert(1)>",
    "<script>alert(1)</script>",
    "[click](javascript:alert(1))",
    "[click](http://evil.example)",
    "a@b.c a.b+c@d-e.fg @@evil.example a@b@evil.example é@é.é a@\u200bevil.example a@_x.-y",
    "http://evil.example/track www.evil.example a@evil.example",
    "<http://evil.example>",
    "```mermaid\ngraph TD; A-->B\n```",
    "~~~mermaid\ngraph TD\n~~~",
    "    indented code",
    ":green-badge[0.99 strong] :red[x] :material/home: :+1: :smile: :streamlit:",
    ":color[x]{foreground=red background=red}",
    "$\\href{http://evil.example}{x}$ $$\\includegraphics{http://evil.example}$$",
    "[x]: http://evil.example\n[x]",
    "[^1]\n\n[^1]: note",
    "&lt;img src=x&gt; &#60;b&#62; &colon;smile&colon;",
    "| a | b |\n|---|---|\n| ![](http://evil.example) | c |",
    "title\n=====\n# head\n> quote\n---\n***",
    "- [ ] task\n- [x] done",
    "[\\[1\\]](http://evil.example) [1](http://evil.example) [[1]](x) ![1](http://evil.example)",
    "\u202egnp.exe\u202c \u200bhttp\u200b://evil.example \x00 \ue000",
    "**[x](http://evil.example)** *![](http://evil.example)*",
    "ht\u2060tp://evil.example :gre\u200ben-badge[x]",
    "1. one\n2) two\n   - nested\n\t- tab",
    "\\[x\\](http://evil.example) \\\\![x](http://evil.example)",
    "`code` ``http://evil.example``",
]
ALLOWED = {
    "paragraph_open", "paragraph_close", "inline", "text", "text_special", "softbreak", "strong_open",
    "strong_close", "em_open", "em_close", "bullet_list_open", "bullet_list_close", "ordered_list_open",
    "ordered_list_close", "list_item_open", "list_item_close", "link_open", "link_close",
}  # fmt: skip
# Patterns that Streamlit's later steps look for in text that has already been parsed.
LATE = re.compile(r"https?://|www\.\w|[\w.+-]@[\w-]+\.[\w-]|:[\w+-]+:|:material/\w", re.IGNORECASE)

nasty = st.text(
    st.sampled_from(list("[]()!<>`*_#:$@&\\|~-+=.{}^\"'/ \n\t0123456789ab\u200b\u2060\ue000wht"))
) | st.lists(
    st.sampled_from([*PAYLOADS, "[1]", "[2]", "[9?]", "\n", " ", "**", "*", "- ", "http:", "//"])
).map("".join)


def tokens(markdown: str) -> list[Token]:
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return [token for block in parser.parse(markdown) for token in (block, *(block.children or []))]


def assert_harmless(markdown: str, message: int = 3) -> None:
    # The sign of ours is drawn as text of its own, so it parts what stands before it from what follows.
    shown = tokens(markdown.replace(":gray[†]", "†"))
    assert {token.type for token in shown} <= ALLOWED
    for token in shown:
        if token.type == "link_open":
            assert re.fullmatch(rf"#cite-{message}-\d+", str(token.attrs["href"]))
    # Searched text never spans lines or blocks: everything but text stands for such a border.
    text = "".join(token.content if token.type in ("text", "text_special") else "\n" for token in shown)
    assert not LATE.search(text)
    directive = re.search(r"(?<!\\):[\w-]+\[", markdown.replace(":gray[†]", ""))
    assert directive is None


@pytest.mark.parametrize("payload", PAYLOADS)
def test_payloads_are_only_text(payload: str) -> None:
    assert_harmless(answer_markdown(payload, 3, {1, 2}))
    assert_harmless(answer_markdown(payload, 3, {1, 2}, (2,)))
    assert_harmless(escaped(payload))
    assert_harmless(marked_terms(payload, frozenset({"evil"})))


@given(nasty)
def test_no_text_becomes_more_than_text_and_own_citations(text: str) -> None:
    assert_harmless(answer_markdown(text, 3, {1, 2}))
    assert_harmless(escaped(text))
    assert_harmless(marked_terms(text, frozenset({"a", "b0"})))


@given(nasty, st.integers(0, 200))
def test_a_payload_cut_anywhere_stays_harmless(text: str, cut: int) -> None:
    assert_harmless(answer_markdown(text[:cut], 3, {1, 2}))


@given(st.text())
def test_any_text_is_escaped_to_itself(text: str) -> None:
    shown = "".join(
        token.content for token in tokens(escaped(text)) if token.type in ("text", "text_special")
    )
    assert shown.replace(JOINER, "").split() == one_line(text).split()


@given(nasty)
def test_links_are_numbered_as_the_offsets_are(text: str) -> None:
    drawn = re.findall(r"\]\(#cite-3-(\d+)\)", answer_markdown(text, 3, {1, 2}))
    assert drawn == [str(number) for number in range(1, len(label_offsets(text, {1, 2})) + 1)]


@given(nasty)
def test_scores_are_said_within_the_links_and_nowhere_else(text: str) -> None:
    count = len(label_offsets(text, {1, 2}))
    scores = [f"support strong, 0.{number:03}" for number in range(count)]
    drawn = answer_markdown(text, 3, {1, 2}, scores=scores)
    assert_harmless(drawn)
    # In reading order, each emphasised within its own link: there the style sheet finds them.
    assert [_name_of(link) for link in _links(drawn)] == scores


def _links(markdown: str) -> list[list[Token]]:
    found: list[list[Token]] = []
    inside = False
    for token in tokens(markdown):
        if token.type == "link_open":
            inside = True
            found.append([])
        elif token.type == "link_close":
            inside = False
        elif inside:
            found[-1].append(token)
    return found


def _name_of(link: list[Token]) -> str:
    """Return the emphasised text in a link, after its label."""
    start = [token.type for token in link].index("em_open")
    return "".join(token.content for token in link[start:] if token.type in ("text", "text_special"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fast [2].", "Fast [\\[2\\]](#cite-1-1)\\."),
        ("Fast [2][1].", "Fast [\\[2\\]](#cite-1-1)[\\[1\\]](#cite-1-2)\\."),
        ("Invented [9?].", "Invented \\[9\\?\\]\\."),
        ("Unknown [7].", "Unknown \\[7\\]\\."),
        ("**Bold [1]**", "**Bold [\\[1\\]](#cite-1-1)**"),
        ("## Head\ntext", "**Head**\n\ntext"),
        ("text\n- one\n- two", "text\n\n- one\n- two"),
    ],
)
def test_answers_keep_their_form(text: str, expected: str) -> None:
    assert answer_markdown(text, 1, {1, 2}).strip() == expected


def test_signs_terms_and_long_texts_are_drawn_as_they_are_meant() -> None:
    assert ":gray[†]" in answer_markdown("One. Two [1].", 1, {1}, (4,))
    assert ":gray" not in answer_markdown("One \ue000. Two [1].", 1, {1})
    assert "#cite" not in answer_markdown("One [1].", 1, {1}, linked=False)
    assert marked_terms("Retrieval (retrieving) of texts", frozenset({"retriev"})) == (
        "**Retrieval** \\(**retrieving**\\) of texts"
    )
    assert JOINER not in escaped("MRR@10 and P@5. See nDCG@10, f@x")
    assert JOINER in escaped("write to a@evil.example")
    assert shortened("one two three", 8) == "one two …"
    assert shortened("one two", 8) == "one two"


@pytest.mark.parametrize("sign", ["<->", "->", "<-", "--", ">=", "<=", "~="])
def test_fault_signs_that_stand_alone_were_drawn_as_arrows(sign: str) -> None:
    """Streamlit draws each as an arrow, a dash or the like where spaces are round it, after parsing."""
    for text in (sign, f"a {sign} b", f"{sign} b", f"a {sign}"):
        assert sign not in unescaped(escaped(text))
        assert unescaped(escaped(text)).replace(JOINER, "") == text
    assert unescaped(escaped(f"a{sign}b")) == f"a{sign}b"


def unescaped(markdown: str) -> str:
    return "".join(token.content for token in tokens(markdown) if token.type in ("text", "text_special"))


@pytest.mark.parametrize(
    ("url", "good"),
    [
        ("https://aclanthology.org/2022.acl-long.1/", True),
        ("https://doi.org/10.1/x?a=b#c", True),
        ("javascript:alert(1)", False),
        ("https://a b", False),
        ('https://a/"onmouseover="x', False),
        ("data:text/html,x", False),
        ("//evil.example", False),
        ("", False),
    ],
)
def test_only_plain_web_addresses_become_links(url: str, good: bool) -> None:
    assert (web_address(url) == url) is good if good else web_address(url) is None
