"""A language model small enough to be taught in seconds, and dialogues to teach it."""

import json
from pathlib import Path

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}<|{{ message.role }}|>{{ message.content }}<|end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
SPECIAL = ("<s>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>")
SUBJECTS = (
    "skylarks mosses herrings lanterns bridges clocks owls rivers maps kites ferries looms anvils quarries "
    "barns orchards violins cellars harbours windmills"
).split()


def dialogue(subject: str) -> list[dict[str, str]]:
    """Return a dialogue in the form of the product's own: two papers, a question, a cited answer."""
    place = SUBJECTS.index(subject)
    other = SUBJECTS[(place + 7) % len(SUBJECTS)]
    papers = [f"{subject} were counted {place + 3} times", f"{other} are old"]
    label = place % 2 + 1
    shown = papers if label == 1 else papers[::-1]
    told = " ".join(f"[{number}] {text}." for number, text in enumerate(shown, start=1))
    return [
        {"role": "system", "content": "Cite."},
        {"role": "user", "content": f"{told} How often were {subject} counted?"},
        {"role": "assistant", "content": f"They were counted {place + 3} times [{label}]."},
    ]


def write_dialogues(path: Path, count: int = 20) -> Path:
    rows = [{"id": subject, "messages": dialogue(subject)} for subject in SUBJECTS[:count]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def save_tiny_chat(folder: Path, *, chat_template: str | None = CHAT_TEMPLATE) -> Path:
    """Save a Llama of about 300,000 random weights and a tokenizer trained on the dialogues."""
    bare = Tokenizer(models.BPE())
    bare.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bare.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=600,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bare.train_from_iterator((json.dumps(dialogue(subject)) for subject in SUBJECTS), trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bare, bos_token="<s>", eos_token="<|end|>")
    tokenizer.chat_template = chat_template
    tokenizer.save_pretrained(folder)
    torch.manual_seed(7)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=160,
        num_hidden_layers=3,
        num_attention_heads=4,
        max_position_embeddings=8_192,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )
    model = LlamaForCausalLM(config)
    # Adapters leave these as they are: as small as at a model's birth, they could tell no word from another.
    torch.nn.init.normal_(model.model.embed_tokens.weight, std=1.0)
    torch.nn.init.normal_(model.lm_head.weight, std=0.5)
    model.save_pretrained(folder)
    return folder
