"""Measures the product; `python -m evaluation bench` prints its speed."""
