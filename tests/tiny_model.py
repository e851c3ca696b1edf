"""A language model of a few thousand random weights, to run for real what runs models."""

from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

CHAT_TEMPLATE = (
    "{% for message in messages %}<{{ message.role }}>{{ message.content }}{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}"
)


def save_tiny_model(
    folder: Path, *, chat_template: str | None = CHAT_TEMPLATE, context: int = 16_384
) -> Path:
    """Save a Llama with random weights and a tokenizer with one token to a byte."""
    vocabulary = {byte: index for index, byte in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    start, end = len(vocabulary), len(vocabulary) + 1
    bare = Tokenizer(models.BPE(vocab={**vocabulary, "<s>": start, "</s>": end}, merges=[]))
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bare, bos_token="<s>", eos_token="</s>")
    tokenizer.chat_template = chat_template
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(vocabulary) + 2,
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=1,
        num_attention_heads=2,
        max_position_embeddings=context,
        bos_token_id=start,
        eos_token_id=end,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
