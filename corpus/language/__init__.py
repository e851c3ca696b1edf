"""The language of papers and questions: which it is; English words, their stems, and BM25 by them."""
