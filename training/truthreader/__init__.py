"""TruthReader's data (its section 4.2.1): cited dialogues made of documents and of published dialogues."""
