"""Write from the code: the references (command line, settings, HTTP API) and the schemas of trails.

    python docs/generate.py

tests/test_documents.py asserts that the committed files are up to date.
"""

import json
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

PROJECT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT))

from pydantic import SecretStr  # noqa: E402
from pydantic.fields import FieldInfo  # noqa: E402
from pydantic_core import PydanticUndefined  # noqa: E402

from assistant.trail.comparison_file import comparison_schema  # noqa: E402
from assistant.trail.transcript import transcript_schema  # noqa: E402
from corpus.command_line import Command  # noqa: E402
from corpus.settings import Settings  # noqa: E402
from explorer.api.http import make_api  # noqa: E402
from paper_trail import COMMANDS  # noqa: E402

DOCS = PROJECT / "docs"
_WRITTEN = "<!-- Written by docs/generate.py; do not edit. -->\n"
_CLI = """
# Command line

`paper-trail COMMAND --help` prints the same. In a checkout, the program is `.venv/bin/paper-trail`.
"""
_SETTINGS = """
# Settings

Settings are environment variables. An empty variable counts as unset. A misspelt setting is named in the log;
a value that cannot be used stops the start with a message.
"""
_HTTP = """
# HTTP API

The API runs beside the app, in its process, once `PAPER_TRAIL_API_KEYS` holds a key:

```
PAPER_TRAIL_API_KEYS=notebook:$(openssl rand -hex 24) make app
curl -H "Authorization: Bearer $KEY" -H "content-type: application/json" \\
    -d '{"question": "How does ColBERTv2 compress its token vectors?"}' http://127.0.0.1:8501/api/v1/ask
```

`GET /api/v1/openapi.json` describes every request and reply; it needs no key.

## Keys

- A key is `KEY`, `NAME:KEY` or `NAME:KEY:QUESTIONS` (its own number of questions in ten minutes).
  Separate keys by commas. A key with a name can be replaced, and what was stored under the name stays.
- Send the key in the `Authorization` header alone. A key in an address is refused.
- After 20 wrong keys in ten minutes an address gets 429 for every further one. Right keys still work there.
- Keys see the published papers, whether or not visitors sign in. They never see visitors' documents, and only
  the conversations that they began.

## Requests

- `scope` restricts a search or a question: `collections`, `papers`, `first_year`, `last_year`, `topics`,
  `venues`, `authors`, `languages`, `labels`.
- `conversation` continues a conversation; `keep: false` stores nothing.
- A client that disconnects ends the answer it waited for. A comparison goes on.

## Errors

Errors are `{"error": CODE, "message": WHAT TO DO}`. 429 and 503 say in `Retry-After` when to try again. A
request that is refused costs no question and stores nothing.

| status and code | when |
|---|---|
| 429 `too_many_requests` | your key has used its requests or questions of ten minutes |
| 429 `too_many_requests` | 10 requests of your key, or 20 of all keys, are being answered |
| 429 `too_many_requests` | your key has its share of questions, comparisons or event streams under way |
| 429 `spending_limit` | less is left of the month than the question or comparison may cost |
| 503 `busy` | all keys together have as much under way as the server takes, or it is being stopped |
| 503 `storage_unavailable` | the database cannot be used at the moment |
| 503 `corpus_unavailable` | the corpus cannot be read at the moment |

## Operations
"""
_NO_SETTING = {"address"}  # derived from `home`
_BOUNDS = (("ge", "at least"), ("gt", "above"), ("le", "at most"), ("lt", "below"))
_PLAIN = {str: "text", int: "integer", float: "number", bool: "yes or no", Path: "path", SecretStr: "secret"}


def main() -> None:
    """Write all files."""
    for name, text in files().items():
        (DOCS / name).write_text(text, encoding="utf-8")


def files() -> dict[str, str]:
    """Return the text of each generated file by its path below docs/."""
    return {
        "reference/cli.md": command_line(),
        "reference/settings.md": settings(),
        "reference/http.md": http(),
        "transcript.schema.json": _schema(transcript_schema()),
        "comparison.schema.json": _schema(comparison_schema()),
    }


def _schema(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"


def command_line() -> str:
    """Return the reference of all commands."""
    return "\n".join([_WRITTEN + _CLI, *(line for command in COMMANDS for line in _command(command))])


def settings() -> str:
    """Return the reference of all settings; raises KeyError where one lacks a description."""
    groups = tomllib.loads((PROJECT / "docs" / "settings.toml").read_text(encoding="utf-8"))
    defaults = groups.pop("defaults")
    fields = Settings.model_fields
    described = [name for group in groups.values() for name in group]
    if wrong := (set(fields) - _NO_SETTING) ^ set(described):
        raise KeyError(f"docs/settings.toml and corpus/settings.py differ: {', '.join(sorted(wrong))}")
    lines = [_WRITTEN + _SETTINGS]
    for title, group in groups.items():
        lines += [f"## {title}", "", "| variable | meaning | value | default |", "|---|---|---|---|"]
        for name, meaning in group.items():
            field = fields[name]
            variable = str(field.validation_alias or f"PAPER_TRAIL_{name.upper()}")
            default = defaults.get(name) or _default(field.default)
            lines.append(f"| `{variable}` | {meaning} | {_values(field)} | {default} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def http() -> str:
    """Return the reference of the HTTP API."""
    document = make_api().openapi()
    rows = [_WRITTEN + _HTTP, "| operation | does | request | reply |", "|---|---|---|---|"]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            request, reply = _request(operation), _reply(operation)
            does = " ".join(operation["description"].split())
            rows.append(f"| `{method.upper()} {path}` | {does} | {request} | {reply} |")
    rows += ["", "## Schemas", "", "Fields with a star are required.", ""]
    schemas = document["components"]["schemas"]
    rows += ["| schema | fields |", "|---|---|"]
    rows += [f"| {name} | {_fields_of(schema)} |" for name, schema in sorted(schemas.items())]
    return "\n".join(rows) + "\n"


def _command(command: Command, parents: Sequence[str] = ("paper-trail",), depth: int = 2) -> Iterator[str]:
    """Yield the lines on a command and, for a group, on its commands."""
    loaded = command.load()
    yield from _click_command(loaded, (*parents, command.name), depth, command.help)


def _click_command(loaded: Any, names: Sequence[str], depth: int, about: str = "") -> Iterator[str]:
    yield f"{'#' * depth} `{' '.join(names)}`\n"
    known: Mapping[str, Command] = getattr(loaded, "known", {})
    children: Mapping[str, Any] = getattr(loaded, "commands", {})
    yield _paragraphs(about if known or children else loaded.help or about)
    if known:
        for command in known.values():
            yield from _command(command, names, depth + 1)
    elif children:
        for name, child in children.items():
            yield from _click_command(child, (*names, name), depth + 1)
    else:
        yield from _parameters(loaded)


def _paragraphs(text: str) -> str:
    """Return text with each paragraph on one line."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n")) + "\n"


def _parameters(loaded: Any) -> Iterator[str]:
    shown = [parameter for parameter in loaded.params if not getattr(parameter, "hidden", False)]
    if not shown:
        return
    yield "| parameter | meaning | default |\n|---|---|---|"
    for parameter in shown:
        meaning = _cell(getattr(parameter, "help", "") or "")
        yield f"| {_spelling(parameter)} | {meaning} | {_shown(parameter)} |"
    yield ""


def _spelling(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`{' …' if parameter.nargs != 1 else ''}"
    return ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))


def _shown(parameter: Any) -> str:
    """Return the default as `--help` prints it."""
    told = getattr(parameter, "show_default", None)
    if isinstance(told, str):
        return _cell(told)
    if parameter.required:
        return "required"
    default = parameter.default
    if default is None or default is False or callable(default) or default in ((), [], ""):
        return ""
    if isinstance(default, Path) and default.is_relative_to(PROJECT):
        default = default.relative_to(PROJECT)
    return f"`{_cell(str(getattr(default, 'value', default)))}`"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _values(field: FieldInfo) -> str:
    """Return the allowed values of a setting: its choices, or its type with its bounds."""
    bounds = [
        f"{word} {_number(getattr(bound, name))}"
        for name, word in _BOUNDS
        for bound in field.metadata
        if getattr(bound, name, None) is not None
    ]
    return ", ".join([_type(field.annotation), *bounds])


def _type(annotation: Any) -> str:
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{choice}`" for choice in get_args(annotation))
    if get_origin(annotation) in (Union, UnionType):
        return _type(next(part for part in get_args(annotation) if part is not NoneType))
    return "list" if get_origin(annotation) is tuple else _PLAIN[annotation]


def _default(value: Any) -> str:
    if isinstance(value, SecretStr) or value in (None, "", (), PydanticUndefined):
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _number(value) if isinstance(value, int | float) else f"`{value}`"


def _number(value: float) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _request(operation: Mapping[str, Any]) -> str:
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
    parameters = [_parameter(parameter) for parameter in operation.get("parameters", ())]
    return ", ".join([*parameters, *([_name(body)] if body else [])])


def _parameter(parameter: Mapping[str, Any]) -> str:
    """Return a parameter's name, with its choices where it has some."""
    choices = ", ".join(f"`{choice}`" for choice in parameter["schema"].get("enum", ()))
    return f"`{parameter['name']}`" + (f" ({choices})" if choices else "")


def _reply(operation: Mapping[str, Any]) -> str:
    status, reply = next(
        (code, told) for code, told in operation["responses"].items() if code.startswith("2")
    )
    content: Mapping[str, Any] = reply.get("content", {})
    nothing: tuple[str, Any] = ("", {})
    kind, told = next(iter(content.items()), nothing)
    if kind == "text/event-stream":
        events = told["itemSchema"]["properties"]["event"]["enum"]
        return "events: " + ", ".join(f"`{event}`" for event in events)
    if len(content) > 1:
        return "a file"
    return _name(told["schema"]) if told.get("schema") else status


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref", schema.get("type", ""))).rpartition("/")[2]


def _fields_of(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    required = schema.get("required", ())
    return ", ".join(f"`{name}`{'*' if name in required else ''}" for name in schema.get("properties", ()))


if __name__ == "__main__":
    main()
