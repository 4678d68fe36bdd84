"""The first map of one sentence in a fresh process, as people write it with transformers.

    python torch_first_map.py FOLDER SENTENCE
"""

import sys

import torch
from transformers import AutoModel, AutoTokenizer

tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModel.from_pretrained(sys.argv[1], attn_implementation="eager")
with torch.inference_mode():
    maps = model(**tokenizer(sys.argv[2], return_tensors="pt"), output_attentions=True).attentions
print(maps[-1][0, 0].shape)
