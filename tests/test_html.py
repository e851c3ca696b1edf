"""HTML and scripts of ours hold numbers and constants alone; text of papers and models never becomes HTML."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from assistant.comparing.records import Candidate, Round
from assistant.records import StepTime
from explorer.ask.steps import steps_html, steps_of
from explorer.compare.tree import growing_row, round_row
from tests.explorer.turns import make_turn

# Functions whose HTML may stand in st.html, besides constants.
BUILDERS = {
    "_strip_style", "citation_bars", "elements_row", "group_dots", "growing_row", "round_row", "score_bars",
    "sentence_bar", "steps_html", "support_bar", "year_bars",
}  # fmt: skip
# Arguments of builders: numbers, and records whose texts the tests below keep out.
NUMBERS = {
    "float", "float | None", "int", "Sequence[float | None]", "Sequence[int]", "Collection[int]",
    "Mapping[int, int]", "dict[int, int]", "Strip", "Round", "Sequence[Candidate]",
    "Sequence[Vote]", "tuple[StepShown, ...]",
}  # fmt: skip
# Named in this program: the one is asserted to be an identifier, the other is the key of a table.
NAMES = {("_strip_style", "place"), ("group_dots", "theme")}
# Ways by which a script has text read as HTML or as a program.
UNSAFE = (
    "unsafe_allow_html", "unsafe_allow_javascript", "innerHTML", "outerHTML", "insertAdjacentHTML", "srcdoc",
    "document.write", "createContextualFragment", "DOMParser", "eval(", "new Function",
)  # fmt: skip
STYLESHEET = re.compile(r"Path\(__file__\)\.with_name\('\w+\.css'\)")
TEXT = "<img src=x onerror=alert(1)>"


def _screens(root: Path) -> list[Path]:
    return [*sorted((root / "explorer").rglob("*.py")), root / "streamlit_app.py"]


def _is_ours(node: ast.expr, constants: set[str]) -> bool:
    """Return True if an expression is made of constants and of what the builders return."""
    match node:
        case ast.Name(id=name) | ast.Call(func=ast.Name(id=name)):
            return name in (BUILDERS if isinstance(node, ast.Call) else constants)
        case ast.BinOp(left=left, op=ast.Add(), right=right) | ast.IfExp(body=left, orelse=right):
            return _is_ours(left, constants) and _is_ours(right, constants)
        case ast.Call(
            func=ast.Attribute(value=ast.Constant(), attr="join"), args=[ast.GeneratorExp(elt=element)]
        ):
            return _is_ours(element, constants)
    return isinstance(node, ast.Constant)


def _constants(root: Path) -> set[str]:
    """Return the names that a module of the screens binds to a text as it is or to a stylesheet beside it."""
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in _screens(root)]
    statements = [node for tree in trees for node in tree.body if isinstance(node, ast.Assign)]
    bound = [(target, statement.value) for statement in statements for target in statement.targets]
    return {
        target.id
        for target, value in bound
        if isinstance(target, ast.Name) and target.id.isupper()
        if isinstance(value, ast.Constant) or STYLESHEET.fullmatch(ast.unparse(value))
    }


def foreign_html(root: Path) -> Iterator[str]:
    """Yield every place of the screens where HTML is drawn that holds more than numbers and constants."""
    constants = _constants(root)
    for file in _screens(root):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            match node:
                case ast.Call(func=ast.Attribute(attr="html"), args=[html]) if _is_ours(html, constants):
                    continue
                case ast.Call(func=ast.Attribute(attr="html")):
                    yield f"{file.relative_to(root).as_posix()}:{node.lineno} draws {ast.unparse(node)}"
                case ast.ImportFrom(module=module) if (module or "").startswith("streamlit"):
                    yield from (f"{file.name} renames html" for alias in node.names if alias.name == "html")


def test_html_holds_numbers_and_constants_alone(root: Path) -> None:
    assert list(foreign_html(root)) == []


@pytest.mark.parametrize("word", UNSAFE)
def test_no_screen_has_text_read_as_html(root: Path, word: str) -> None:
    files = [*_screens(root), *(root / "explorer").rglob("*.js")]
    assert [file.name for file in files if word in file.read_text(encoding="utf-8")] == []


def test_what_builds_html_is_given_numbers(root: Path) -> None:
    trees = [ast.parse(file.read_text(encoding="utf-8")) for file in _screens(root)]
    functions = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    builders = [function for function in functions if function.name in BUILDERS]
    assert sorted(builder.name for builder in builders) == sorted(BUILDERS)
    for builder in builders:
        assert not builder.args.vararg and not builder.args.kwarg
        for argument in (*builder.args.args, *builder.args.kwonlyargs):
            is_named = (builder.name, argument.arg) in NAMES
            assert is_named or (argument.annotation and ast.unparse(argument.annotation) in NUMBERS), (
                builder.name
            )


def test_a_round_shows_nothing_that_was_written_in_it() -> None:
    candidate = Candidate(1, None, TEXT, lost=(2,))
    shown = round_row(Round(1, (1,), (candidate,), (), (1,), (TEXT,))) + growing_row([candidate], [])
    assert "img" not in shown and "Candidate 1: lost [2], kept" in shown


def test_the_steps_of_a_turn_show_nothing_of_its_question_and_answer() -> None:
    turn = replace(make_turn(TEXT), question=TEXT, seconds=(StepTime("retrieve", 0.2), StepTime("write", 1)))
    assert "img" not in steps_html(steps_of(turn))
    assert "2 papers, 4 passages" in steps_html(steps_of(turn))


@pytest.mark.parametrize(
    ("line", "is_foreign"),
    [
        ("st.html(paper.title)", True),
        ("st.html(f'<b>{title}</b>')", True),
        ("st.html('<b>' + title)", True),
        ("st.html(escape(title))", True),
        ("column.html(NAME.format(title))", True),
        ("st.html('<b>x</b>', title)", True),
        ("from streamlit import html", True),
        ("st.html('<b>x</b>')", False),
        ("st.html(RULE + '<b>x</b>' if is_dark else RULE)", False),
        ("st.html(''.join(score_bars(one, None) for one in (0.1, 0.9)))", False),
    ],
)
def test_html_of_foreign_text_is_found(tmp_path: Path, line: str, is_foreign: bool) -> None:
    (tmp_path / "explorer").mkdir()
    (tmp_path / "explorer" / "screen.py").write_text(f"RULE = '<style></style>'\n{line}\n")
    (tmp_path / "streamlit_app.py").write_text("")
    assert bool(list(foreign_html(tmp_path))) == is_foreign
