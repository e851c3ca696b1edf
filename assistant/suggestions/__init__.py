"""Questions that are offered: to begin with, tried beforehand; to go on with, taken from what was cited."""
