"""The product's version, as transcripts and the About page name it."""

VERSION = "0.1.0"
