"""What written text may hold besides sentences: strong words, and marks at the beginning of a line."""

import re

STRONG = re.compile(r"\*\*(\S(?:[^*\n]*\S)?)\*\*")
LINE = re.compile(r"[ \t]*(?P<mark>[-*•]|\d{1,2}[.)]|#{1,6})[ \t]+")
