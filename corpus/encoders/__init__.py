"""Text to vectors: the seam, the runtimes, and which one a corpus has."""
