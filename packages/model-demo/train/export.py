"""A checkpoint as a GGUF file, which llama.cpp loads as architecture qwen2: python3 export.py last.pt out.gguf [q8_0|f16|f32]

The whole writer is here: no other package is needed.
"""
import os, struct, sys

import numpy as np

from tokenizer import FIXED, HERE, SPECIAL, Tok

U32, I32, F32, BOOL, STR, ARR = 4, 5, 6, 7, 8, 9
FILE_TYPE = {"f32": 0, "f16": 1, "q8_0": 7}
TENSOR_TYPE = {"f32": 0, "f16": 1, "q8_0": 8}
CONTROL, USER_DEFINED, NORMAL = 3, 4, 1


def text(x):
    b = x.encode("utf-8")
    return struct.pack("<Q", len(b)) + b


def entry(key, kind, v):
    o = text(key) + struct.pack("<I", kind)
    if kind == STR: return o + text(v)
    if kind == ARR:
        of, items = v
        o += struct.pack("<IQ", of, len(items))
        return o + (b"".join(text(x) for x in items) if of == STR else np.array(items, "<i4").tobytes())
    return o + struct.pack({U32: "<I", F32: "<f", BOOL: "<?"}[kind], v)


def q8_0(a):
    """blocks of 32 values: a scale in half precision and 32 signed bytes"""
    b = np.asarray(a, np.float32).reshape(-1, 32)
    d = np.abs(b).max(1) / 127
    inv = np.where(d > 0, 1 / np.where(d > 0, d, 1), 0)
    out = np.zeros(len(b), dtype=[("d", "<f2"), ("q", "i1", 32)])
    out["d"], out["q"] = d, np.rint(b * inv[:, None])
    return out.tobytes()


def tensor_bytes(w, kind):
    if w.ndim == 1 or kind == "f32": return 0, np.ascontiguousarray(w, "<f4").tobytes()  # norms and biases stay whole
    return TENSOR_TYPE[kind], w.astype("<f2").tobytes() if kind == "f16" else q8_0(w)


def tensors(sd, c):
    """(name in GGUF, array); the stacked matrices apart"""
    A, ff = c["H"] * c["hd"], c["ff"]
    out = [("token_embd.weight", sd["emb.weight"]), ("output_norm.weight", sd["nf.w"])]
    for i in range(c["L"]):
        p, o = f"bl.{i}.", f"blk.{i}."
        out += [(o + "attn_norm.weight", sd[p + "n1.w"]), (o + "ffn_norm.weight", sd[p + "n2.w"])]
        for j, n in enumerate("qkv"): out += [(o + f"attn_{n}.weight", sd[p + "qkv.weight"][j * A:j * A + A]), (o + f"attn_{n}.bias", sd[p + "qkv.bias"][j * A:j * A + A])]
        out += [(o + "attn_output.weight", sd[p + "o.weight"]), (o + "ffn_gate.weight", sd[p + "gu.weight"][:ff]), (o + "ffn_up.weight", sd[p + "gu.weight"][ff:]), (o + "ffn_down.weight", sd[p + "dn.weight"])]
    return out


def gguf(sd, c, tok, template, kind):
    a, V, special, fixed = "qwen2", c["V"], len(SPECIAL), len(FIXED)
    meta = [entry("general.architecture", STR, a), entry("general.name", STR, "Shedkit demo"), entry("general.license", STR, "mit"), entry("general.file_type", U32, FILE_TYPE[kind]),
            entry(a + ".context_length", U32, c["ctx"]), entry(a + ".embedding_length", U32, c["d"]), entry(a + ".block_count", U32, c["L"]), entry(a + ".feed_forward_length", U32, c["ff"]),
            entry(a + ".attention.head_count", U32, c["H"]), entry(a + ".attention.head_count_kv", U32, c["H"]), entry(a + ".attention.key_length", U32, c["hd"]), entry(a + ".attention.value_length", U32, c["hd"]),
            entry(a + ".rope.dimension_count", U32, c["hd"]), entry(a + ".rope.freq_base", F32, c["base"]), entry(a + ".attention.layer_norm_rms_epsilon", F32, c["eps"]), entry(a + ".vocab_size", U32, V),
            # not "llama-bpe": that one changes spaces when it writes
            entry("tokenizer.ggml.model", STR, "gpt2"), entry("tokenizer.ggml.pre", STR, "tekken"), entry("tokenizer.ggml.tokens", ARR, (STR, tok.tokens)),
            entry("tokenizer.ggml.token_type", ARR, (I32, [CONTROL] * special + [USER_DEFINED] * fixed + [NORMAL] * (V - special - fixed))), entry("tokenizer.ggml.merges", ARR, (STR, [x + " " + y for x, y in tok.merges])),
            entry("tokenizer.ggml.bos_token_id", U32, 0), entry("tokenizer.ggml.eos_token_id", U32, 2), entry("tokenizer.ggml.eot_token_id", U32, 2), entry("tokenizer.ggml.padding_token_id", U32, 0),
            entry("tokenizer.ggml.add_bos_token", BOOL, False), entry("tokenizer.ggml.add_eos_token", BOOL, False), entry("tokenizer.chat_template", STR, template)]
    info, blob, all_ = b"", b"", tensors(sd, c)
    for n, w in all_:
        kind_, raw = tensor_bytes(w, kind)
        info += text(n) + struct.pack("<I", w.ndim) + b"".join(struct.pack("<Q", x) for x in reversed(w.shape)) + struct.pack("<IQ", kind_, len(blob))
        blob += raw + b"\0" * (-len(raw) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, len(all_), len(meta)) + b"".join(meta) + info
    return head + b"\0" * (-len(head) % 32) + blob


def main(checkpoint, out, kind="q8_0"):
    import torch
    c = torch.load(checkpoint, map_location="cpu", weights_only=False)
    sd = {k: v.float().numpy() for k, v in c["model"].items()}
    b = gguf(sd, c["cfg"], Tok(), open(os.path.join(HERE, "template.jinja")).read(), kind)
    open(out, "wb").write(b)
    print(out, len(b), "bytes, step", c["step"], f"{c['seen'] / 1e6:.2f} M tokens, {c['learnt'] / 1e6:.2f} M learnt")


if __name__ == "__main__": main(*sys.argv[1:])
