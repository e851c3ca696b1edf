"""Chat models: the protocol, one file per way of reaching a model, and the list of what can be chosen."""
