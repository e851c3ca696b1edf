"""The languages of papers and questions; English stems, stop words and BM25."""
