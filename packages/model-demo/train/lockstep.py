"""Prompts, and the tokens that PyTorch gives after them, for test/lockstep.test.ts: python3 lockstep.py last.pt > ../test/lockstep.jsonl

With the weights as the file has them: rounded to eight bits.
"""
import json, random, sys

import numpy as np
import torch

import data
from model import load
from tokenizer import Tok

LONGEST = 60


def rounded(w):
    b = w.reshape(-1, 32)
    d = b.abs().amax(1, keepdim=True) / 127
    q = torch.where(d > 0, (b / torch.where(d > 0, d, torch.ones_like(d))).round(), torch.zeros_like(b))
    return (q * d.half().float()).reshape(w.shape)


@torch.no_grad()
def greedy(model, tok, ids):
    out = []
    while len(out) < LONGEST and (not out or out[-1] != tok.eos):
        out.append(int(model(torch.tensor([ids + out]), torch.tensor([len(ids) + len(out) - 1])).argmax()))
    return out


def main(checkpoint):
    model, tok, r, cases = load(checkpoint), Tok(), random.Random("lockstep"), []
    with torch.no_grad():
        for p in model.parameters():
            if p.ndim == 2: p.copy_(rounded(p))
    for skill, _ in data.SKILLS:
        for i in range(2):
            text, spans = data.render(data.episode(random.Random(f"lockstep {skill.__name__} {i}"), 1, skill, few=False))
            a, b = r.choice(spans)
            ids = tok.encode(text[:a])
            out = greedy(model, tok, ids)
            cases.append({"prompt": text[:a], "tokens": ids, "next": out, "text": tok.decode(out)})
    for c in cases: print(json.dumps(c, ensure_ascii=False))
    print(sum(len(c["next"]) for c in cases), "tokens", file=sys.stderr)


if __name__ == "__main__": main(sys.argv[1])
