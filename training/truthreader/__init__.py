"""TruthReader's data (its section 3.1): cited dialogues made of documents."""
