"""The Paper screen: one paper, what it is about, its text, its pages and its place among others."""
