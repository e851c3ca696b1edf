"""Does the support score say what people say? Labelled pairs, claims made wrong, and the fit of the score."""
