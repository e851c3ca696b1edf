"""Chat models on this machine: transformers, with outlines enforcing the schema of typed replies.

Importing this file loads torch and transformers, which takes seconds: `assistant.models.menu.open_model`
does so when it is needed.
"""

import importlib
import os
import threading
from collections.abc import Callable, Generator, Sequence
from functools import cache
from typing import Any, cast

import jinja2
import outlines
import torch
from outlines.inputs import Chat
from outlines.types import JsonSchema
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    StoppingCriteria,
    StoppingCriteriaList,
    TextIteratorStreamer,
)
from transformers.utils import logging as transformers_logging

from assistant.models.arriving import ReplyText
from assistant.models.protocol import KEPT, Completion, Enough, Exchange, ModelError, OnPiece, Schema
from assistant.models.request import told_by_user
from assistant.models.thoughts import MARKS, begins_thoughts
from assistant.models.typed import typed_reply
from assistant.records import Message, Parameters

# For models without a chat template: roles in words, as base models have seen them.
_PLAIN_TEMPLATE = (
    "{% for message in messages %}{{ message.role | capitalize }}: {{ message.content }}\n\n{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
# Entries of about 15 bytes; 8,000 tokens and 3,000 characters take four seconds and 400 MB.
LARGEST_INDEX = 25_000_000
_LENGTHS = ("minLength", "maxLength")


class _Progress(StoppingCriteria):
    """Counts generated tokens, reports each, and stops the generation on request."""

    def __init__(self, on_piece: OnPiece | None = None) -> None:
        self.tokens = 0
        self._on_piece = on_piece
        self.is_stopped = threading.Event()

    def __call__(self, input_ids: torch.Tensor, scores: torch.Tensor, **_: Any) -> torch.Tensor:  # noqa: ARG002
        self.tokens += 1
        if self._on_piece:
            self._on_piece("")
        stopped = self.is_stopped.is_set()
        return torch.full((input_ids.shape[0],), stopped, dtype=torch.bool, device=input_ids.device)


class _Pieces(TextIteratorStreamer):
    """The pieces of a reply, without special tokens except those that mark thoughts."""

    def __init__(self, tokenizer: Any) -> None:
        super().__init__(tokenizer, skip_prompt=True)
        added = tokenizer.added_tokens_decoder.items()
        self._hidden = {number for number, token in added if token.special and token.content not in MARKS}

    def put(self, value: Any) -> None:
        # The first are the prompt's, which are skipped.
        if self.next_tokens_are_prompt or value.item() not in self._hidden:
            super().put(value)  # type: ignore[no-untyped-call]


class LocalModel:
    """A model from a folder or the hub, which writes one reply at a time; raises ModelError."""

    def __init__(self, name: str, label: str) -> None:
        self.id = name
        self.label = label
        self._one_at_a_time = threading.Lock()
        self._generators: dict[type, Any] = {}
        transformers_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
        transformers_logging.disable_progress_bar()  # type: ignore[no-untyped-call]
        try:
            # Any: their types depend on what is loaded.
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name)
            model: Any = AutoModelForCausalLM.from_pretrained(name, dtype="auto")
            self._model = model.to(_device()).eval()
        except (OSError, ValueError, KeyError, RuntimeError) as error:
            raise ModelError(
                f"The local model {name!r} cannot be loaded: {_first_line(error)}. Check that it is a folder"
                " with a model in it, or a name on the hub, and PAPER_TRAIL_LOCAL_MODEL or the models file."
            ) from None
        if not self._tokenizer.chat_template:
            self._tokenizer.chat_template = _PLAIN_TEMPLATE
        self._knows_system = knows_system(self._tokenizer)
        self._begins_in_thoughts = begins_thoughts(_prompt(self._tokenizer))
        if self._tokenizer.pad_token_id is None:
            self._tokenizer.pad_token = self._tokenizer.eos_token
        self._outlines = outlines.from_transformers(self._model, cast(Any, self._tokenizer))

    def stream(
        self, messages: Sequence[Message], parameters: Parameters, enough: Enough | None = None
    ) -> Generator[str, None, Completion]:
        """Yield the reply in pieces as they are written, then return it; raises ModelError."""
        with self._one_at_a_time:
            inputs = self._inputs(messages)
            progress = _Progress()
            pieces = _Pieces(self._tokenizer)
            writer = _Writer(self._model, pieces, {**inputs, **self._options(parameters, progress)})
            writer.start()
            text = ReplyText(begun_in_thoughts=self._begins_in_thoughts)
            is_enough = False
            try:
                for piece in pieces:
                    if certain := text.pass_on(piece):
                        yield certain
                    if text.is_over or (is_enough := bool(enough and enough(text.whole()))):
                        break
            finally:
                progress.is_stopped.set()
                writer.join()
            if writer.error:
                raise self._failed(writer.error)
            finish_reason = "length" if progress.tokens >= parameters.max_tokens else "stop"
            finish_reason = "enough" if is_enough else finish_reason
            if rest := text.rest(is_whole=finish_reason == "stop" and not self._begins_in_thoughts):
                yield rest
            return Completion(
                text.whole().strip(), finish_reason, inputs["input_ids"].shape[1], progress.tokens
            )

    def reply(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_exchange: Callable[[Exchange], None] | None = None,
        on_piece: OnPiece | None = None,
    ) -> Schema:
        """Return the reply, generated under the constraint of `schema`; raises ModelError.

        One that runs out of tokens is requested once more, then BadReplyError is raised.
        """
        return typed_reply(
            lambda sent: self._forced(sent, parameters, schema, on_piece),
            messages,
            schema,
            label=self.label,
            in_words=False,
            on_exchange=on_exchange,
        )

    def _forced(
        self,
        messages: Sequence[Message],
        parameters: Parameters,
        schema: type[Schema],
        on_piece: OnPiece | None,
    ) -> Completion:
        with self._one_at_a_time:
            progress = _Progress(on_piece)
            try:
                if schema not in self._generators:
                    _load_kernel()
                    form = JsonSchema(_affordable(schema.model_json_schema(), len(self._tokenizer)))
                    self._generators[schema] = outlines.Generator(self._outlines, form)
                text = self._generators[schema](
                    Chat(as_chat(messages, knows_system=self._knows_system)),
                    **self._options(parameters, progress),
                )
            except (RuntimeError, ValueError, IndexError) as error:
                raise self._failed(error) from None
            prompt_tokens = self._inputs(messages)["input_ids"].shape[1]
        finish_reason = "length" if progress.tokens >= parameters.max_tokens else "stop"
        return Completion(text, finish_reason, prompt_tokens, progress.tokens)

    def _inputs(self, messages: Sequence[Message]) -> dict[str, torch.Tensor]:
        chat = as_chat(messages, knows_system=self._knows_system)
        inputs = self._tokenizer.apply_chat_template(
            chat, add_generation_prompt=True, return_tensors="pt", return_dict=True
        )
        return {name: inputs[name].to(self._model.device) for name in ("input_ids", "attention_mask")}

    def _options(self, parameters: Parameters, progress: _Progress) -> dict[str, Any]:
        options: dict[str, Any] = {
            "max_new_tokens": parameters.max_tokens,
            "do_sample": parameters.temperature > 0,
            "pad_token_id": self._tokenizer.pad_token_id,
            "stopping_criteria": StoppingCriteriaList([progress]),
        }
        if parameters.temperature > 0:
            options |= {"temperature": parameters.temperature, "top_p": parameters.top_p}
            options["top_k"] = parameters.top_k or 0
        if parameters.repetition_penalty is not None:
            options["repetition_penalty"] = parameters.repetition_penalty
        return options

    def _failed(self, error: Exception) -> ModelError:
        return ModelError(f"{self.label} failed on this machine: {_first_line(error)}.", KEPT)


class _Writer(threading.Thread):
    """A thread in which the model generates; it keeps the error, if any."""

    def __init__(self, model: Any, pieces: TextIteratorStreamer, inputs: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self._model, self._pieces, self._inputs = model, pieces, inputs
        self.error: Exception | None = None

    def run(self) -> None:
        try:
            self._model.generate(**self._inputs, streamer=self._pieces)
        except Exception as error:  # noqa: BLE001  # whatever it is, the reader of the pieces has to hear of it
            self.error = error
            self._pieces.on_finalized_text("", stream_end=True)


def _affordable(form: dict[str, Any], tokens: int) -> dict[str, Any]:
    """Return the schema for constrained generation, without limits on lengths if these cost too much memory.

    The index of allowed tokens has a state for each character that a text may have, with an entry for nearly
    every token: gigabytes for a large vocabulary. Too long replies are then sent back instead.
    """
    if _characters(form) * tokens <= LARGEST_INDEX:
        return form
    return cast(dict[str, Any], _without_lengths(form))


def _characters(form: Any) -> int:
    """Return the greatest number of characters in the limited texts of a schema."""
    if isinstance(form, list):
        return sum(map(_characters, form))
    if not isinstance(form, dict):
        return 0
    characters = int(form.get("maxLength", 0)) + sum(map(_characters, form.values()))
    return characters * int(form.get("maxItems", 1))


def _without_lengths(form: Any) -> Any:
    if isinstance(form, dict):
        return {name: _without_lengths(part) for name, part in form.items() if name not in _LENGTHS}
    return [_without_lengths(part) for part in form] if isinstance(form, list) else form


@cache
def _load_kernel() -> None:
    """Load the kernel with which outlines masks tokens, uncompiled.

    Compiling takes a C++ compiler and half a minute, and gains hardly any speed.
    """
    before = os.environ.get("TORCHDYNAMO_DISABLE")
    os.environ["TORCHDYNAMO_DISABLE"] = "1"
    try:
        importlib.import_module("outlines_core.kernels.torch")
    finally:
        del os.environ["TORCHDYNAMO_DISABLE"]
        if before is not None:
            os.environ["TORCHDYNAMO_DISABLE"] = before


def knows_system(tokenizer: Any) -> bool:
    """Return True if a model's chat template accepts a system message."""
    try:
        tokenizer.apply_chat_template(_roles([Message("system", "."), Message("user", ".")]), tokenize=False)
    except jinja2.TemplateError:
        return False
    return True


def _prompt(tokenizer: Any) -> str:
    """Return a short prompt as rendered by a model's chat template, up to the reply."""
    chat = _roles([Message("user", ".")])
    return cast(str, tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False))


def as_chat(messages: Sequence[Message], *, knows_system: bool) -> list[dict[str, Any]]:
    """Return the messages for a chat template, without a system message if it knows no such role."""
    return _roles(messages if knows_system else told_by_user(messages))


def _roles(messages: Sequence[Message]) -> list[dict[str, Any]]:
    return [{"role": message.role, "content": message.content} for message in messages]


def _device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:200].rstrip(".")
