"""Small models in GGUF files: which can be fetched, and llama.cpp in a process of its own to run them."""

from assistant.models.gguf.offers import Offer, fetch, needs_of, offer_named, offers, weights_of

__all__ = ["Offer", "fetch", "needs_of", "offer_named", "offers", "weights_of"]
