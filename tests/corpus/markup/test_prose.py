"""Markup in titles, abstracts and notes, and prose that only looks like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus.markup.prose import plain_markup

_JATS = (
    "<jats:sec><jats:title>Aim</jats:title><jats:p>We dry moss.</jats:p></jats:sec>"
    "<jats:sec><jats:title>Result</jats:title><jats:p>It keeps.</jats:p></jats:sec>"
)
_POWER = (
    "<mml:math><mml:msup><mml:mn>10</mml:mn>"
    "<mml:mrow><mml:mo>-</mml:mo><mml:mn>3</mml:mn></mml:mrow></mml:msup></mml:math>"
)


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Moss & stone", "Moss & stone"),
        ("<i>Bryum lapis</i> at <b>dusk</b>", "Bryum lapis at dusk"),
        ('<span class="nocase">MOSSNET</span> for <SPAN style="x:y;">Xy</SPAN>', "MOSSNET for Xy"),
        ("H<sub>2</sub>O, <sup>14</sup>C, 3 × 10<sup>−4</sup>", "H₂O, ¹⁴C, 3 × 10⁻⁴"),
        ("x<sup>i+1</sup> and T<ce:inf>max</ce:inf>", "x^{i+1} and T_{max}"),
        ("the 9<sup>th</sup> Moss&#8482; day", "the 9th Moss™ day"),
        ("R&amp;D, M&uuml;hle, 5&#37;, a&nbsp;b, &#x3b1;", "R&D, Mühle, 5%, a b, α"),
        ("&lt;i&gt;Bryum&lt;/i&gt; &amp;amp; &amp;lt;b&amp;gt;stone&amp;lt;/b&amp;gt;", "Bryum & stone"),
        ("p &lt; 0.01 and q &lt 5", "p < 0.01 and q < 5"),
        (_JATS, "Aim\nWe dry moss.\nResult\nIt keeps."),
        ("<p>Wet.</p><p>Dry.</p>", "Wet.\nDry."),
        ("Wet.<br>Dry.<p>Moss<br/>grows", "Wet.\nDry.\nMoss\ngrows"),
        ("<ul><li>wet<li>dry</ul>", "wet\ndry"),
        ("<tr><td>a</td><td>b</td></tr>", "a b"),
        (f"at {_POWER} bar", "at 10⁻³ bar"),
        (
            "<math><mi>O</mi><mo>(</mo><mi>n</mi><mi>log</mi><mi>n</mi><mo>)</mo></math>",
            "O(n log n)",
        ),
        ("<math><mfrac><mn>1</mn><mrow><mn>2</mn><mi>x</mi></mrow></mfrac></math>", "1/(2x)"),
        ("<math><msqrt><mn>2</mn></msqrt><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup></math>", "√2x_i²"),
        ("<math><mover><mi>y</mi><mo>^</mo></mover></math>", "ŷ"),
        (
            "<math><semantics><mi>α</mi><annotation encoding='TeX'>\\alpha</annotation></semantics></math>",
            "α",
        ),
        (f"<alternatives>{_POWER}<tex-math>$10^{{-3}}$</tex-math></alternatives>", "10⁻³"),
        ("<tex-math>$x_1$</tex-math>", "$x_1$"),
        (r"\documentclass{minimal}\usepackage{moss}\begin{document}$$x$$\end{document} wet", "$$x$$ wet"),
        ("$10^6$ and CO$_{2}$", "10⁶ and CO₂"),
        ("<![CDATA[<i>Bryum</i>]]><!-- not shown --> grows", "Bryum grows"),
        ("<script>grow()</script>wet<style>p {}</style>", "wet"),
        ('<img src=x onerror="grow()">wet', "wet"),
        ("<p>" * 5000 + "wet", "wet"),
        ("<i>Bryum lapis, cut off", "Bryum lapis, cut off"),
        # No markup.
        ("If c<d and d<e then c<e, p<0.05 for m>30; <9 wet, >4 dry", None),
        ("if a<b and c>d, a<b>c, x<i>y, q<p>r", None),
        ("between <s> and </s>, a <mask> and <unk>, List<Moss>", None),
        ("the <b> tag, the <div> element, parse <p> elements", None),
        ("AT&T, Q&A, x &c. and &unknown; 5 & 6", None),
        ("moss <- stone -> <3", None),
        ("<!-- without an end", None),
        ("<script>without an end", None),
        ("10<sup>6", None),
    ],
)  # fmt: skip
def test_plain_markup(text: str, plain: str | None) -> None:
    assert plain_markup(text) == (text if plain is None else plain)


_PIECES = st.sampled_from(
    [
        *("<i>", "</i>", "<sup>", "</sup>", "<math>", "</math>", "<msup>", "</msup>", "<p>", "<br/>", "</p>"),
        *("&lt;", "&amp;", "<!--", "-->", "<", ">", "a", "1", " ", "\n"),
    ]
)


@given(st.lists(_PIECES, max_size=30).map("".join))
def test_no_figure_or_letter_is_lost(text: str) -> None:
    """Markup may be broken in any way: what stands outside tags stays, apart from comments."""
    plain = plain_markup(text.replace("<!--", ""))
    assert sum(map(plain.count, "1¹")) >= text.count("1")


def test_fault_two_thirds_of_a_sentence_were_taken_for_a_tag() -> None:
    assert plain_markup("If u<b and b<w then u<w, so p<0.05 for n>30.").endswith("n>30.")


@pytest.mark.parametrize(
    "text", ["<sup>" * 9000 + "1" + "</sup>" * 9000, "<p>1" * 9000, "<!--1" * 9000, "&lt;1" * 9000]
)
def test_deep_and_broken_markup_is_read_in_time(text: str) -> None:
    plain = plain_markup(text)
    assert plain.count("1") + plain.count("¹") == text.count("1")
