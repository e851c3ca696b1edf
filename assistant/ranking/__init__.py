"""The sentences of the evidence ranked for a question, and the gate that says whether they may answer it."""
