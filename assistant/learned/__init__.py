"""Parts learned from labelled data: small weights over the bundled encoder, each with a card."""
