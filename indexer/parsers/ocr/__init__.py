"""Pages without a text layer, read from their pictures: words with boxes, as from any other page."""
