"""The body of a request without fields that the server refuses, which are read from its error messages."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assistant.records import Message, Parameters

# The system role is no field, but may be refused like one.
SYSTEM, SCHEMA = "system role", "response_format"
MAX_TOKENS, MAX_COMPLETION_TOKENS = "max_tokens", "max_completion_tokens"
# Fields that only some servers know: all left out if a refusal is of unknown fields without a name.
EXTRAS = ("stream_options", "top_k", "repetition_penalty", "repeat_penalty", SCHEMA)
_FIELDS = (*EXTRAS, MAX_TOKENS, MAX_COMPLETION_TOKENS, "temperature", "top_p")
_NAMES = {
    # "max_tokens", "max tokens" or "maxTokens".
    **{
        name: re.compile(rf"(?<![^\W_]){name.replace('_', '[_ -]?')}(?!\w)", re.IGNORECASE)
        for name in _FIELDS
    },
    "stream_options": re.compile(r"(?<!\w)(?:stream[_ -]?options|include_usage)(?!\w)", re.IGNORECASE),
    MAX_TOKENS: re.compile(r"(?<!\w)max[_ -]?(?:new[_ -]?|output[_ -]?)?tokens(?!\w)", re.IGNORECASE),
    SCHEMA: re.compile(
        r"response[_ ]format|json[_ ](?:schema|mode|object)|structured[_ ]output|guided[_ ]|\bgrammar\b",
        re.IGNORECASE,
    ),
    SYSTEM: re.compile(
        r"\b(?:system|developer)['\"`’”]?[ _](?:role|message|prompt|instruction)"
        r"|['\"`]system['\"`]|\broles?\b",
        re.IGNORECASE,
    ),
    "stream": re.compile(r"['\"`]stream['\"`]|\bstream(?:ing)?\b(?=.{0,40}\bsupport)", re.IGNORECASE),
}
_UNKNOWN_FIELDS = re.compile(
    r"\b(?:extra|unknown|unexpected|unrecogni[sz]ed|unsupported|additional|undefined|not permitted)\b"
    r".{0,40}\b(?:fields?|inputs?|arguments?|parameters?|params?|propert(?:y|ies)|keys?|keywords?|attributes?)\b"
    r"|extra_forbidden",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\bnot\b.{0,20}\b(?:support|allow|permit|accept|enabl|implement|recogni)|n['’]t support|unsupported"
    r"|unknown|unexpected|unrecogni[sz]ed|\binvalid\b|\bonly\b.{0,60}\bsupported|\bmust\b|forbidden",
    re.IGNORECASE,
)
# A too long prompt, which is no refusal of a field.
_TOO_LONG = re.compile(r"context[ _](?:length|size|window)|prompt is too long", re.IGNORECASE)
# Parts of an error that name the field at fault, and those that repeat the request.
_NAMING, _REPEATED = ("param", "parameter", "field", "loc"), frozenset({"input", "ctx", "url", "request"})
_DEEPEST = 8
_MOST_WORDS = 4_000


@dataclass(frozen=True, slots=True)
class RequestForm:
    """A form of requests without the fields `left_out`, by the names above."""

    left_out: frozenset[str] = frozenset()

    def without(self, names: Iterable[str]) -> "RequestForm":
        return RequestForm(self.left_out | frozenset(names))

    def takes(self, name: str) -> bool:
        return name not in self.left_out

    def messages(self, messages: Sequence[Message]) -> list[Message]:
        """Return the messages, the system's inside the user's if the server does not take that role."""
        return list(messages) if self.takes(SYSTEM) else told_by_user(messages)

    def fields(
        self, parameters: Parameters, extra: Mapping[str, object], *, hosted: bool
    ) -> dict[str, object]:
        """Return the fields of a request besides its model and messages.

        A server that is not hosted gets the penalty under a second name too (llama.cpp, Ollama).
        """
        is_streamed = self.takes("stream")
        penalty = parameters.repetition_penalty
        every = {
            "temperature": parameters.temperature,
            "top_p": parameters.top_p,
            MAX_TOKENS: parameters.max_tokens,
            MAX_COMPLETION_TOKENS: None if self.takes(MAX_TOKENS) else parameters.max_tokens,
            "stream_options": {"include_usage": True} if is_streamed else None,
            "top_k": parameters.top_k,
            "repetition_penalty": penalty,
            "repeat_penalty": None if hosted else penalty,
            **extra,
        }
        chosen = {name: value for name, value in every.items() if value is not None and self.takes(name)}
        return {**chosen, "stream": is_streamed}

    def refused(self, words: str, sent: Iterable[str]) -> frozenset[str]:
        """Return the fields among those `sent` that a refusal is about.

        That is the first one named: others may be suggested as replacements.
        """
        named = {
            name: match.start()
            for name in sent
            if name in _NAMES and (match := _NAMES[name].search(words[:_MOST_WORDS]))
        }
        if named:
            # Many messages on another field have the word "stream".
            return frozenset({min(named, key=lambda name: (name == "stream", named[name]))})
        if _UNKNOWN_FIELDS.search(words[:_MOST_WORDS]):
            return frozenset(EXTRAS).intersection(sent)
        return frozenset()


def is_of_prompt(words: str) -> bool:
    """Return True if a refusal is for the length of the prompt."""
    return _TOO_LONG.search(words[:_MOST_WORDS]) is not None


def names_field(words: str) -> bool:
    """Return True if an error message refuses a field of the request."""
    words = words[:_MOST_WORDS]
    return _REFUSES.search(words) is not None and any(name.search(words) for name in _NAMES.values())


def told_by_user(messages: Sequence[Message]) -> list[Message]:
    """Return messages for a model without a system role: its text is put before the user's."""
    if not messages or messages[0].role != "system":
        return list(messages)
    system, *others = messages
    if not others or others[0].role != "user":
        return [Message("user", system.content), *others]
    return [Message("user", f"{system.content}\n\n{others[0].content}"), *others[1:]]


def error_words(body: object) -> str:
    """Return the text of a server's error, the field at fault first, without copies of the request."""
    return " ".join(_words(body, _DEEPEST))


def _words(body: object, depth: int) -> Iterator[str]:
    if isinstance(body, str):
        yield body
    elif isinstance(body, Mapping) and depth:
        for name in sorted(body, key=lambda name: name not in _NAMING):
            if name not in _REPEATED:
                yield from _words(body[name], depth - 1)
    elif isinstance(body, list | tuple) and depth:
        if all(isinstance(part, str | int) for part in body):
            yield ".".join(map(str, body))
        else:
            for part in body:
                yield from _words(part, depth - 1)
