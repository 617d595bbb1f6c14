"""A decoder in the layout of Qwen2 (RMSNorm, rotary positions, biases on q, k and v, SwiGLU, tied embedding), which
llama.cpp knows, and the optimizer Muon."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F

# heads x head size must be d for llama.cpp
CFG = dict(V=1024, d=192, L=4, H=4, hd=48, ff=512, base=50000.0, eps=1e-6, ctx=2048)
ADDED = (1, 4)  # where the blocks stand that the model gets when it grows from 4 to 6


def rope_table(n, hd, base):
    a = torch.outer(torch.arange(n).float(), 1 / base ** (torch.arange(0, hd, 2).float() / hd))
    return torch.cat([a.cos(), a.cos()], -1), torch.cat([a.sin(), a.sin()], -1)


def rotated(x):
    h = x.shape[-1] // 2
    return torch.cat([-x[..., h:], x[..., :h]], -1)


class Norm(nn.Module):
    def __init__(s, d, eps):
        super().__init__()
        s.w, s.eps = nn.Parameter(torch.ones(d)), eps

    def forward(s, x): return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + s.eps) * s.w


class Block(nn.Module):
    def __init__(s, c, first):
        super().__init__()
        s.c, d, A, ff = c, c["d"], c["H"] * c["hd"], c["ff"]
        s.n1, s.n2 = Norm(d, c["eps"]), Norm(d, c["eps"])
        s.qkv, s.o = nn.Linear(d, 3 * A), nn.Linear(A, d, bias=False)
        s.gu, s.dn = nn.Linear(d, 2 * ff, bias=False), nn.Linear(ff, d, bias=False)
        for w in (s.qkv, s.gu): nn.init.normal_(w.weight, std=d ** -.5)
        nn.init.normal_(s.o.weight, std=d ** -.5 / math.sqrt(2 * c["L"]))
        nn.init.normal_(s.dn.weight, std=ff ** -.5 / math.sqrt(2 * c["L"]))
        nn.init.zeros_(s.qkv.bias)
        if first: s.previous_token_heads(1, 2, 3)

    @torch.no_grad()
    def previous_token_heads(s, *deltas):
        """Copying needs heads that look 1, 2 and 3 tokens back. With rotary positions the biases of q and k alone can do
        that: q = amp, k = amp turned by delta, so that q.k is largest at the distance delta. Given so, copying is there
        after half a million tokens."""
        hd, A = s.c["hd"], s.c["H"] * s.c["hd"]
        inv = 1 / s.c["base"] ** (torch.arange(0, hd, 2).float() / hd)
        amp = 3.0 * (inv > .02).float()  # only fast frequencies tell neighbours apart
        for h, delta in enumerate(deltas):
            q, k = slice(h * hd, h * hd + hd), slice(A + h * hd, A + h * hd + hd)
            s.qkv.weight[q] *= .1
            s.qkv.weight[k] *= .1
            s.qkv.bias[q] = torch.cat([amp, torch.zeros_like(amp)])
            s.qkv.bias[k] = torch.cat([amp * torch.cos(delta * inv), amp * torch.sin(delta * inv)])

    def forward(s, x, cos, sin):
        H, hd = s.c["H"], s.c["hd"]
        B, n, _ = x.shape
        q, k, v = s.qkv(s.n1(x)).view(B, n, 3, H, hd).permute(2, 0, 3, 1, 4)
        q, k = q * cos + rotated(q) * sin, k * cos + rotated(k) * sin
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + s.o(o.transpose(1, 2).reshape(B, n, H * hd))
        g, u = s.gu(s.n2(x)).chunk(2, -1)
        return x + s.dn(F.silu(g) * u)


class LM(nn.Module):
    def __init__(s, c=CFG):
        super().__init__()
        s.c, s.emb = c, nn.Embedding(c["V"], c["d"])
        nn.init.normal_(s.emb.weight, std=c["d"] ** -.5)
        s.bl, s.nf = nn.ModuleList(Block(c, i == 0) for i in range(c["L"])), Norm(c["d"], c["eps"])
        cos, sin = rope_table(c["ctx"], c["hd"], c["base"])
        s.register_buffer("cos", cos, persistent=False)
        s.register_buffer("sin", sin, persistent=False)

    def forward(s, ids, wanted=None):
        """wanted: the flat positions whose logits are wanted; training looks at those of the assistant only."""
        n = ids.shape[1]
        x, cos, sin = s.emb(ids), s.cos[:n], s.sin[:n]
        for b in s.bl: x = b(x, cos, sin)
        x = s.nf(x).reshape(-1, s.c["d"])
        return (x if wanted is None else x[wanted]) @ s.emb.weight.t()


@torch.no_grad()
def grown(small):
    """A deeper model that says the same: the blocks that are added begin as ones that add nothing. The first of them
    looks further back than those of block 0, so that what repeats itself (8080, 1.1.11, a-b-a) can be told apart."""
    m = LM({**small.c, "L": small.c["L"] + len(ADDED)})
    m.emb, m.nf, old = small.emb, small.nf, iter(small.bl)
    for i, b in enumerate(m.bl):
        if i not in ADDED: m.bl[i] = next(old)
        else: b.o.weight.zero_(); b.dn.weight.zero_()
    m.bl[ADDED[0]].previous_token_heads(3, 4, 6)
    return m


def load(path):
    c = torch.load(path, map_location="cpu", weights_only=False)
    m = LM(c["cfg"])
    m.load_state_dict(c["model"])
    return m.eval()


def orthogonalized(G, steps=5):
    """Newton-Schulz, as in Muon: all singular values near 1"""
    X = G / (G.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    tall = G.shape[-2] > G.shape[-1]
    if tall: X = X.transpose(-2, -1)
    for _ in range(steps):
        A = X @ X.transpose(-2, -1)
        X = 3.4445 * X + (-4.7750 * A + 2.0315 * (A @ A)) @ X
    return X.transpose(-2, -1) if tall else X


class Muon:
    """For matrices; `mats` says how many matrices are stacked in a parameter: each is taken for itself."""
    def __init__(s, mats, decay=.01):
        s.mats, s.decay = mats, decay
        s.buf = [torch.zeros_like(p) for p, _ in mats]

    @torch.no_grad()
    def step(s, lr, momentum):
        groups = {}
        for (p, k), b in zip(s.mats, s.buf):
            b.mul_(momentum).add_(p.grad, alpha=1 - momentum)
            u = p.grad * (1 - momentum) + b * momentum
            for part, upd in zip(p.chunk(k, 0), u.chunk(k, 0)): groups.setdefault(tuple(upd.shape), []).append((part, upd))
        for pairs in groups.values():
            for (p, _), u in zip(pairs, orthogonalized(torch.stack([u for _, u in pairs]))):
                p.mul_(1 - lr * s.decay).add_(u, alpha=-lr * max(1, p.shape[0] / p.shape[1]) ** .5)
