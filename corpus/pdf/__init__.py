"""Pages of PDFs: words with boxes, and pictures."""
