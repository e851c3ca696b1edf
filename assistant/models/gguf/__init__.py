"""Small models in GGUF files: which can be fetched, and llama.cpp in a process of its own to run them."""
