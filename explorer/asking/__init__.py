"""The Ask screen and what is behind it: a conversation, its answers in the making, and its trail."""
