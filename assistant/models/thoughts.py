"""Removes a model's thoughts from its reply if the server leaves them in the text."""

import re

# The marks before and after thoughts.
_ENDS = {
    **{f"<{name}>": f"</{name}>" for name in ("think", "thinking", "thought", "reasoning")},
    **{"<seed:think>": "</seed:think>", "<mm:think>": "</mm:think>", "◁think▷": "◁/think▷"},
    **{"[THINK]": "[/THINK]", "<|channel>": "<channel|>"},
    **{"<|START_THINKING|>": "<|END_THINKING|>", "<|begin_of_thought|>": "<|end_of_thought|>"},
    **{"<unused94>": "<unused95>", "<|inner_prefix|>": "<|inner_suffix|>"},
    **{"<longcat_think>": "</longcat_think>"},
}
# The marks before the reply itself (Cohere, Apriel, OpenThinker), after thoughts. Control tokens end it.
_REPLIES = ("<|START_RESPONSE|>", "<|START_TEXT|>", "[BEGIN FINAL RESPONSE]", "<|begin_of_solution|>")
# The tags around a whole reply (Granite, Hunyuan).
_TAGS = {"<response>": "</response>", "<answer>": "</answer>"}
# gpt-oss writes messages, each with a header that names its channel; the reply is the final one.
_HEADERS, _HEADER_END, _CHANNEL, _FINAL = ("<|start|>", "<|channel|>"), "<|message|>", "<|channel|>", "final"
LONGEST_HEADER = 120
# The rest of the headers where a server drops their tokens.
_BARE_THOUGHTS, _BARE_FINAL = re.compile(r"analysis(?=[A-Z])"), "assistantfinal"

_REPLY_MARKS = (*_REPLIES, *_TAGS, *_TAGS.values())
MARKS = (*_ENDS, *_ENDS.values(), *_HEADERS, _HEADER_END, *_REPLY_MARKS)
_LONGEST_MARK = max(map(len, MARKS))
_MARK = re.compile("|".join(map(re.escape, (*_ENDS, *_ENDS.values(), *_HEADERS, *_REPLY_MARKS))))
_HEADER = re.compile("|".join(map(re.escape, _HEADERS)))
_END = {begin: re.compile(re.escape(end)) for begin, end in _ENDS.items()}
_QUOTED = {"`": "`", '"': '"', "'": "'", "“": "”", "‘": "’", "«": "»"}
_CONTEXT = 40


class Thoughts:
    """Removes a model's thoughts from its reply; `text` does not depend on how that is cut into pieces.

    Thoughts begin with a mark where a sentence may begin, and end with its closing mark. A closing mark alone
    ends thoughts that the prompt began (DeepSeek-R1, Qwen3): then `text` loses everything before it, though
    pieces may have been passed on. If they are known to begin so (`begun`), nothing is passed on before they
    end. Marks within a sentence or in quotation marks belong to the reply.
    """

    def __init__(self, *, begun: bool = False) -> None:
        self.begun = begun
        self._is_waiting = begun
        self._is_over = False
        self._kept: list[str] = []
        self._new: list[str] = []
        self._held = ""
        # The closing mark of the current thoughts, None in the reply.
        self._end: re.Pattern[str] | None = None
        self._header = ""
        # Closing marks expected in this line whose opening marks were plain text: they are text too.
        self._spoken_of: set[str] = set()
        self._before = ""
        self._is_at_start = True
        # The closing half of a tag round the reply.
        self._tag_end = ""

    @property
    def text(self) -> str:
        """The reply as far as it is certain."""
        text = "" if self._is_waiting else "".join(self._kept)
        return text.partition(_BARE_FINAL)[2].lstrip() if _BARE_THOUGHTS.match(text) else text

    def pass_on(self, text: str) -> str:
        """Return the text that certainly belongs to the reply, holding back a possible mark."""
        self._held += text
        while self._read():
            pass
        return self._passed()

    def rest(self, *, is_whole: bool) -> str:
        """Return the text held back at the end of the reply.

        `is_whole`: it was not cut. Without a closing mark, a complete text has no thoughts, and a cut one
        consists of thoughts only.
        """
        self._is_over = True
        self.pass_on("")
        if self._end is None and (self._kept or not self._header):
            self._keep(self._header + self._held)
        self._held = self._header = ""
        if self._is_waiting and is_whole:
            self._is_waiting = self.begun = False
        return self._passed()

    def _passed(self) -> str:
        if self._is_waiting:
            return ""
        new, self._new = "".join(self._new), []
        return new

    def _read(self) -> bool:
        """Read on to the next mark; return False if none is certain yet."""
        if self._header:
            return self._read_header()
        return self._read_reply() if self._end is None else self._read_thoughts(self._end)

    def _read_reply(self) -> bool:
        match = _MARK.search(self._held)
        certain = match.start() if match else len(self._held) - _begun(self._held)
        self._keep(self._held[:certain])
        self._held = self._held[certain:]
        # The next character shows whether a mark is quoted.
        if match is None or (len(self._held) == len(match[0]) and not self._is_over):
            return False
        self._held = self._held[len(match[0]) :]
        self._take(match[0])
        return True

    def _take(self, mark: str) -> None:
        """Process a mark in the reply."""
        quoted = _QUOTED.get(self._before[-1:])
        if self._is_waiting and mark in _ENDS.values():
            self._begin_anew()
        elif quoted and self._held.startswith(quoted):
            self._keep(mark)
        elif mark in _HEADERS:
            self._header = mark
        elif mark in _REPLY_MARKS:
            self._take_reply_mark(mark)
        elif mark in _ENDS and self._may_begin_sentence():
            self._end = _END[mark]
        elif mark in _ENDS:
            self._keep(mark)
            self._spoken_of.add(_ENDS[mark])
        elif mark in self._spoken_of:
            self._keep(mark)
            self._spoken_of.remove(mark)
        else:
            self.begun = True
            self._begin_anew()

    def _take_reply_mark(self, mark: str) -> None:
        """Process a mark around the reply, or keep it as text."""
        if mark in _REPLIES and self._may_begin_sentence():
            self._begin_anew()
        elif mark in _TAGS and self._is_at_start:
            self._tag_end = _TAGS[mark]
        elif mark == self._tag_end:
            self._tag_end = ""
        else:
            self._keep(mark)

    def _may_begin_sentence(self) -> bool:
        words = self._before.rstrip()
        return not words or "\n" in self._before[len(words) :] or words[-1] in ".!?…]"

    def _read_thoughts(self, end: re.Pattern[str]) -> bool:
        match = end.search(self._held)
        if match is None:
            self._held = self._held[-_LONGEST_MARK:]
            return False
        self._held = self._held[match.end() :]
        if match[0] in _HEADERS:
            self._header = match[0]
            return True
        self._end = None
        self._is_at_start = True
        if not self._kept:
            self._is_waiting = self.begun = False
        return True

    def _read_header(self) -> bool:
        """Read a message header; if it turns out to be none, it is text."""
        end = self._held.find(_HEADER_END, 0, LONGEST_HEADER)
        if end < 0 and len(self._held) < LONGEST_HEADER:
            return False
        header, self._header = self._header + self._held[: max(end, 0)], ""
        if end < 0:
            if self._end is None:
                self._keep(header)
            return True
        self._held = self._held[end + len(_HEADER_END) :]
        if header.rpartition(_CHANNEL)[2].lstrip().startswith(_FINAL):
            self._end = None
            self._begin_anew()
        else:
            self._end = _HEADER
        return True

    def _begin_anew(self) -> None:
        """Start the reply here: everything before were thoughts."""
        self._is_waiting = False
        self._is_at_start = True
        self._before = self._tag_end = ""
        self._spoken_of.clear()
        self._kept.clear()
        self._new.clear()

    def _keep(self, text: str) -> None:
        text = text.lstrip() if self._is_at_start else text
        if not text:
            return
        self._is_at_start = False
        if "\n" in text:
            self._spoken_of.clear()
        self._before = (self._before + text)[-_CONTEXT:]
        self._kept.append(text)
        self._new.append(text)


def begins_thoughts(prompt: str) -> bool:
    """Return True if a prompt ends with an opening mark of thoughts."""
    return prompt.rstrip().endswith(tuple(_ENDS))


def _begun(text: str) -> int:
    """Return the length of the text's end that may begin a mark."""
    ends = (text[-length:] for length in range(min(_LONGEST_MARK - 1, len(text)), 0, -1))
    return next((len(end) for end in ends if any(mark.startswith(end) for mark in MARKS)), 0)
