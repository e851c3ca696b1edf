"""The optional cross-encoder, tested with tiny ones that are made here and hold random weights."""

from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from assistant.checking.entailment import CrossEncoderEntailment, open_scorer
from assistant.checking.scorer import SupportScorer, support_weights
from corpus.encoders.base import Encoder
from corpus.errors import CorpusError

WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *"the parser is fast slow penguins swim far".split()]


def make_cross_encoder(folder: Path, labels: list[str]) -> Path:
    """Save a cross-encoder of one small layer that knows a dozen words."""
    tokenizer = Tokenizer(WordLevel({word: index for index, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=64,
    ).save_pretrained(folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        id2label=dict(enumerate(labels)),
        label2id={label: index for index, label in enumerate(labels)},
        initializer_range=0.5,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


CLAIMS = ["the parser is fast", "penguins swim far"]
TEXTS = ["the parser is slow", "the parser is fast"]


@pytest.mark.parametrize(
    "labels", [["contradiction", "entailment", "neutral"], ["ENTAILMENT", "not_entailment"], ["score"]]
)
def test_any_kind_of_cross_encoder_gives_probabilities(tmp_path, labels):
    entailment = CrossEncoderEntailment(str(make_cross_encoder(tmp_path / "model", labels)))
    found = entailment.probabilities(CLAIMS, TEXTS)
    assert all(0 <= probability <= 1 for probability in found)
    assert found[0] != found[1]
    assert entailment.probabilities([], []) == []


def test_the_class_named_entailment_is_the_one_taken(tmp_path):
    first = make_cross_encoder(tmp_path / "first", ["entailment", "neutral", "contradiction"])
    last = make_cross_encoder(tmp_path / "last", ["neutral", "contradiction", "entailment"])
    either = [CrossEncoderEntailment(str(folder)).probabilities(CLAIMS, TEXTS)[0] for folder in (first, last)]
    assert either[0] != pytest.approx(either[1])


def test_entailment_joins_the_support_score(tmp_path, encoder: Encoder):
    entailment = CrossEncoderEntailment(str(make_cross_encoder(tmp_path / "model", ["score"])))
    evidence = [["The parser is slow.", "Penguins swim far."]]
    own = SupportScorer(encoder).score(["The parser is fast."], evidence)[0]
    scorer = SupportScorer(encoder, entailment)
    joined = scorer.score(["The parser is fast."], evidence)[0]
    probability = entailment.probabilities(["The parser is fast."], [" ".join(evidence[0])])[0]
    assert joined == pytest.approx((own + probability) / 2, abs=1e-6)
    assert scorer.name == f"{support_weights().name} + {entailment.name}"
    assert scorer.score(["The parser is fast.", ""], [[], ["Penguins swim."]]) == [0.0, 0.0]


def test_the_setting_names_the_model(tmp_path, monkeypatch, encoder: Encoder):
    assert open_scorer(encoder).entailment is None
    folder = make_cross_encoder(tmp_path / "model", ["score"])
    monkeypatch.setenv("PAPER_TRAIL_ENTAILMENT", str(folder))
    assert open_scorer(encoder).name.endswith(str(folder))


def test_a_model_that_is_not_there_is_named(encoder: Encoder):
    scorer = SupportScorer(encoder, CrossEncoderEntailment("no/such-model"))
    with pytest.raises(CorpusError, match=r"no/such-model.*PAPER_TRAIL_ENTAILMENT"):
        scorer.score(["The parser is fast."], [["The parser is slow."]])


def test_a_model_without_the_class_is_named(tmp_path):
    folder = make_cross_encoder(tmp_path / "model", ["cat", "dog", "cow"])
    with pytest.raises(CorpusError, match="no class named entailment, only cat, dog, cow"):
        CrossEncoderEntailment(str(folder)).probabilities(CLAIMS, TEXTS)
