"""Trains the demonstration model from scratch.

    python3 train.py --out DIR                    # from the start, or on from DIR/last.pt
    python3 train.py --out DIR --stop-at 2000     # in pieces: ends after step 2000, go on with the same command
    python3 train.py --out DIR2 --grow DIR/last.pt # the second stage: the same model, two blocks deeper

One process with one thread, beside another that makes the data. The steps, the curriculum, the rate and all that is
random follow from the step and the seed alone. On a CUDA device it is used.
"""
import argparse, multiprocessing, os, random, signal, sys, time

import torch
import torch.nn.functional as F

import data
from model import CFG, LM, Muon, grown, load
from tokenizer import Tok

STEPS, DECAY_FROM, TOKENS, SEED = 7000, 2400, 3072, 1
GROWN = dict(steps=3600, decay_from=900, lr=.012, adam_lr=.002, seed=2)  # of the second stage, which sees all skills from its first step
LONGEST = 1200  # tokens of a conversation


def encoded(tok, text, spans):
    ids, learnt, pos = [], [], 0
    for a, b in spans:
        x, y = tok.encode(text[pos:a]), tok.encode(text[a:b])
        ids += x + y
        learnt += [0] * len(x) + [1] * len(y)
        pos = b
    return ids, learnt


def batches(tok, seed, chunk, p, tokens):
    """Batches of conversations of about the same length, padded to about `tokens`."""
    r, ex, out, cur = random.Random(seed * 1_000_003 + chunk), [], [], []
    longest = min(LONGEST, int(250 + 3000 * p))
    while len(ex) < 160:
        e = encoded(tok, *data.render(data.episode(r, p)))
        if sum(e[1]) and len(e[0]) <= longest: ex.append(e)
    ex.sort(key=lambda e: len(e[0]) + r.random() * 20)
    for e in ex:
        if cur and (len(cur) + 1) * len(e[0]) > tokens: out.append(cur); cur = []
        cur.append(e)
    if cur: out.append(cur)
    out = [b for b in out if len(b) * len(b[-1][0]) > tokens * .5]
    r.shuffle(out)
    return out


def tensors(batch):
    n = max(len(i) for i, _ in batch) - 1
    X, at, Y = torch.zeros(len(batch), n, dtype=torch.long), [], []
    for row, (ids, learnt) in enumerate(batch):
        X[row, :len(ids) - 1] = torch.tensor(ids[:-1])
        for j in range(1, len(ids)):
            if learnt[j]: at.append(row * n + j - 1); Y.append(ids[j])
    return X, torch.tensor(at), torch.tensor(Y)


def feed(queue, seed, chunk, widening, tokens, step):
    """Makes batches ahead, in order. How far the training is is told by the number of batches, not by the clock: all is
    seen after `widening` of them."""
    os.nice(5)
    tok = Tok()
    while True:
        for b in batches(tok, seed, chunk, min(1, step / widening) if widening else 1, tokens):
            queue.put((chunk, tensors(b)))
            step += 1
        chunk += 1


@torch.no_grad()
def exact(model, tok, episodes, device):
    """How many of the answers are right, letter by letter, when all before them is."""
    right = {}
    for skill, e in episodes:
        text, spans = data.render(e)
        X, at, Y = tensors([encoded(tok, text, spans)])
        ok = bool((model(X.to(device), at.to(device)).argmax(-1).cpu() == Y).all())
        right.setdefault(skill, []).append(ok)
    return right


def main(a):
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what makes the data ends too
    torch.set_num_threads(1)
    torch.manual_seed(a.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tok, model = Tok(), (grown(load(a.grow)) if a.grow else LM(CFG)).train().to(device)
    ps = dict(model.named_parameters())
    mats = [(p, 3 if "qkv" in n else 2 if "gu" in n else 1) for n, p in ps.items() if p.ndim == 2 and "emb" not in n]
    rest = [p for n, p in ps.items() if p.ndim == 1 or "emb" in n]
    muon, adam = Muon(mats), torch.optim.Adam(rest, lr=1, betas=(.9, .97))
    last, step, chunk, seen, learnt = os.path.join(a.out, "last.pt"), 0, 0, 0, 0
    os.makedirs(a.out, exist_ok=True)
    if os.path.exists(last):
        c = torch.load(last, map_location=device, weights_only=False)
        model.load_state_dict(c["model"]); adam.load_state_dict(c["adam"])
        for b, x in zip(muon.buf, c["muon"]): b.copy_(x)
        step, chunk, seen, learnt = c["step"], c["chunk"] + 1, c["seen"], c["learnt"]  # what was left of its chunk is passed over
    queue = multiprocessing.Queue(24)
    maker = multiprocessing.Process(target=feed, args=(queue, a.seed, chunk, 0 if a.grow else a.steps, a.tokens, step), daemon=True)
    maker.start()
    held = [(f.__name__[3:], data.episode(random.Random(f"held {f.__name__} {i}"), 1, f, few=False)) for f, _ in data.SKILLS for i in range(8)]
    held = [(skill, e) for skill, e in held if e.t]
    print("parameters", sum(p.numel() for p in ps.values()), model.c, vars(a), device, flush=True)
    begun, seen0, avg = time.time(), seen, None
    while step < min(a.steps, a.stop_at or a.steps):
        chunk, (X, at, Y) = queue.get()
        loss = F.cross_entropy(model(X.to(device), at.to(device)), Y.to(device))
        loss.backward()
        # a short warm-up, then constant, then one straight line down: most of the accuracy comes in that
        scale = min(1, (step + 1) / 40) * min(1, max(.02, (a.steps - step) / (a.steps - a.decay_from)))
        torch.nn.utils.clip_grad_norm_(rest, 1.0)
        muon.step(a.lr * scale, min(.95, .85 + step * .0005))
        for g in adam.param_groups: g["lr"] = a.adam_lr * scale
        adam.step()
        model.zero_grad()
        step += 1
        seen += X.numel(); learnt += len(Y)
        avg = loss.item() if avg is None else .96 * avg + .04 * loss.item()
        if step % 25 == 0: print(f"step {step} {time.time() - begun:.0f} s loss {avg:.4f} rate x{scale:.3f} {seen / 1e6:.2f} M tokens, {learnt / 1e6:.2f} M learnt, {(seen - seen0) / (time.time() - begun):.0f}/s", flush=True)
        if step % a.every == 0 or step in (a.steps, a.stop_at):
            c = {"model": model.state_dict(), "adam": adam.state_dict(), "muon": muon.buf, "cfg": model.c, "step": step, "chunk": chunk, "seen": seen, "learnt": learnt}
            torch.save(c, last + ".new")
            os.replace(last + ".new", last)
            right = exact(model, tok, held, device)
            print("HELD", step, f"{sum(map(sum, right.values()))}/{len(held)}", " ".join(f"{n}:{sum(x)}/{len(x)}" for n, x in right.items()), flush=True)
    maker.terminate()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("--out", required=True, help="folder of the checkpoint")
    ap.add_argument("--steps", type=int, default=STEPS)
    ap.add_argument("--decay-from", type=int, default=DECAY_FROM, help="the step from which the rate goes down")
    ap.add_argument("--tokens", type=int, default=TOKENS, help="of a step, padding included")
    ap.add_argument("--lr", type=float, default=.02, help="of Muon")
    ap.add_argument("--adam-lr", type=float, default=.003)
    ap.add_argument("--seed", type=int, default=SEED)
    ap.add_argument("--every", type=int, default=250, help="steps between checkpoints")
    ap.add_argument("--stop-at", type=int)
    ap.add_argument("--grow", help="checkpoint of the smaller model to begin with")
    if ap.parse_args().grow: ap.set_defaults(**GROWN)
    main(ap.parse_args())
