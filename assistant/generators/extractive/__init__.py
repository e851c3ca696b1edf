"""The generator without a model: kinds of questions, each with its way of composing."""

from assistant.generators.extractive.generator import ExtractiveGenerator
from assistant.generators.extractive.one_paper import ABOUT, meant_paper

__all__ = ["ABOUT", "ExtractiveGenerator", "meant_paper"]
