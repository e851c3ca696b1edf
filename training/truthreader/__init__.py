"""Makes TruthReader's training data (section 4.2.1): cited dialogues, from documents and published ones."""
