"""Measures the product; `paper-trail eval bench` prints its speed."""
