"""Documents that a visitor brings.

Import its modules one by one: the sandboxed programs must not load what only the server needs.
"""
