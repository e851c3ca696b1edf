"""The generator without a model: kinds of questions, each with its way of composing."""
