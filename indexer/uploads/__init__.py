"""Documents that a visitor brings.

Its modules are imported one by one: programs that it starts apart must not load what the server needs.
"""
