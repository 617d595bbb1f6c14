"""Byte-level BPE that llama.cpp reproduces exactly (pre-tokenizer "tekken").

    python3 tokenizer.py            # makes vocabulary.jsonl from the generated data, in about half a minute

What makes copying easy for a tiny model: digits are tokens of their own, and no merge crosses the border between
letters and anything else, so a word has the same tokens after a quote, a slash or a space. What the wire says again
and again, word for word, is one token each (FIXED): that halves the length of a conversation.
"""
import collections, json, os, random, re

HERE = os.path.dirname(os.path.abspath(__file__))
SIZE = 1024
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]  # GGUF calls these CONTROL
FIXED = [
    # turns
    "<|im_start|>system\n", "\n<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n",
    "\n<|im_start|>user\n<tool_response>\n", "\n</tool_response>", "\n</tool_response><|im_end|>\n<|im_start|>assistant\n",
    # calls. The one that opens them ends before the name's quote: the grammar of calls begins there
    '<tool_call>\n{"name": ', '", "arguments": {"', '"shed", "arguments": {"description": "', '", "limit": 1}}\n</tool_call>',
    '"}}\n</tool_call>', '"]}}\n</tool_call>', '"], "ignore_case": true}}\n</tool_call>', '"], "limit": 1}}\n</tool_call>',
    '", "depth": 1}}\n</tool_call>', '{"depth": 1}}\n</tool_call>', '": ["', '": "', '", "', '": ',
    # tools
    "def shed(description, limit?): Looks up the tools that can do something", "These tools can be called now:\n<tools>\ndef ",
    "\n</tools>", "): Search files", "): Read a file", "): Run a shell command", "): List the files of a folder", "): Write a file",
    "): Edit a file", "): Remember facts for the rest of this session",
    # results
    "1 matching line in 1 file\n\n", " matching lines in 1 file\n\n", "No line matches.", 'Error: There is no file or folder "',
    '" to search. List its parent folder with ', ", or leave out ", '. List the folder "', '" to see what is there.', " Did you mean ",
    "\n\n[These are lines ", ". Go on with offset ", "1→", "→", "exit: 0\n", "exit: 1\n", "Working memory:\n- ", "Remembered.",
    " more matching line in 1 file not shown. Narrow it with ", " more matching lines in 1 file not shown. Narrow it with ", " or glob, or raise limit.]",
    " with a dot not shown; set hidden to true to see.]", ": No such file or directory",
    # commands and queries
    "^#+ ", "(class|const|def|enum|fn|func|function|interface|let|struct|type|var) ", "awk 'BEGIN {print ", "grep -c '' ", "tail -n 1 ",
    " -maxdepth 1 -type f | wc -l", "Count the files", "Count the lines", "Show the last line", "Calculate", '", "description": "',
    # answers
    "I could not find ", "I cannot help with that: I am only a small demonstration model.", "Hello! Ask me for something in your files.",
    "You are welcome.", "I find my tools with shed. I can look up values, titles and lines in files, list and count files, find "
    "definitions, calculate, remember, write a file and replace text in one.", "The first heading is ", "I do not remember ",
    # what files are full of
    '",\n', '"\n', '",', " = ", '= "', "\n\n", "\n", "  ", "    ", "./", ".json", ".md", ".ts", ".js", ".toml", ".yaml", ".txt", ".env", ".ini", "https://",
]
FIXED = list(dict.fromkeys(FIXED))
# The pre-tokenizer "tekken" in the words of Python's re: a letter, and what is neither letter nor digit
L, O = r"[^\W\d_]", r"(?:[^\s\w]|_)"
PAT = re.compile(rf"(?:[^\r\n\w]|_)?(?:(?={L})[^a-z])*(?:(?={L})[^A-Z])+|(?:[^\r\n\w]|_)?(?:(?={L})[^a-z])+(?:(?={L})[^A-Z])*|\d| ?{O}+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
# llama.cpp takes special tokens out of a text one after the other, the longest first
ORDER = sorted(SPECIAL + FIXED, key=lambda s: (-len(s.encode()), s == " = "))
SPACED = """the is of in a to and for what you me with on from how my that many does it tell please can are read find which by or not
this file line first files lines remember replace write where defined version value name your heading title""".split()


def bytes_to_unicode():  # the table of GPT-2: bytes as characters that can be printed
    bs = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    cs, n = bs[:], 0
    for b in range(256):
        if b not in bs: bs.append(b); cs.append(256 + n); n += 1
    return dict(zip(bs, map(chr, cs)))


B2U = bytes_to_unicode()
U2B = {v: k for k, v in B2U.items()}
def enc_bytes(s): return "".join(B2U[b] for b in s.encode("utf-8"))


class Tok:
    def __init__(s, path=os.path.join(HERE, "vocabulary.jsonl")):
        tokens, merges = open(path)
        s.tokens, s.merges = json.loads(tokens), [tuple(m) for m in json.loads(merges)]
        s.id = {t: i for i, t in enumerate(s.tokens)}
        s.rank = {m: i for i, m in enumerate(s.merges)}
        s.cache, s.nspec, s.eos = {}, len(SPECIAL) + len(FIXED), s.id["<|im_end|>"]

    def bpe(s, w):
        if w in s.cache: return s.cache[w]
        u = enc_bytes(w)
        if s.id.get(u, -1) >= s.nspec: r = [s.id[u]]
        else:
            p = list(u)
            while len(p) > 1:
                k, i = min((s.rank.get((p[i], p[i + 1]), 1 << 30), i) for i in range(len(p) - 1))
                if k == 1 << 30: break
                p[i:i + 2] = [p[i] + p[i + 1]]
            r = [s.id[x] for x in p]
        if len(s.cache) < 300000: s.cache[w] = r
        return r

    def encode(s, text):
        parts = [text]
        for f in ORDER:
            if f not in text: continue
            out = []
            for p in parts:
                if isinstance(p, int): out.append(p); continue
                for i, x in enumerate(p.split(f)):
                    if i: out.append(s.id[f])
                    if x: out.append(x)
            parts = out
        ids = []
        for p in parts:
            if isinstance(p, int): ids.append(p)
            else:
                for w in PAT.findall(p): ids += s.bpe(w)
        return ids

    def decode(s, ids):
        return b"".join(s.tokens[i].encode() if i < s.nspec else bytes(U2B[c] for c in s.tokens[i]) for i in ids).decode("utf-8", "replace")


def learn(words, path):
    """words: {letters: count}. Plain BPE on words of letters, with pair counts kept up to date."""
    merges = []
    toks = SPECIAL + FIXED + [B2U[b] for b in range(256)]
    have, taken = set(toks), set(FIXED)
    sw = [enc_bytes(" " + w) for w in dict.fromkeys(SPACED)]
    seqs = [[list(w), c] for w, c in sorted(words.items())]
    pc, where = collections.Counter(), collections.defaultdict(set)
    for n, (w, c) in enumerate(seqs):
        for p in zip(w, w[1:]): pc[p] += c; where[p].add(n)
    toks = [t for t in toks if t]
    while len(toks) < SIZE - len(sw):
        p = max((q for q in pc if q[0] + q[1] not in have), key=lambda q: (pc[q], q))
        merges.append(p); toks.append(p[0] + p[1]); have.add(p[0] + p[1])
        for n in list(where[p]):
            w, c = seqs[n]
            for q in zip(w, w[1:]): pc[q] -= c
            i = 0
            while i < len(w) - 1:
                if (w[i], w[i + 1]) == p: w[i:i + 2] = [p[0] + p[1]]
                i += 1
            for q in zip(w, w[1:]): pc[q] += c; where[q].add(n)
        del pc[p]
    toks += sw
    assert len(set(toks)) == len(toks) == SIZE, (len(set(toks)), len(toks))
    open(path, "w").write(json.dumps(toks) + "\n" + json.dumps(merges) + "\n")


def main():
    import data
    c = collections.Counter()
    for w in data.WORDS: c[w] += 3
    for s in data.SENTENCES:
        for w in re.findall(r"[A-Za-z]+", s): c[w] += 1
    for i in range(4000):
        text = data.render(data.episode(random.Random(i), 1))[0]
        for f in ORDER: text = text.replace(f, "\0")
        for w in re.findall(r"[A-Za-z]+", text): c[w] += 1
    path = os.path.join(HERE, "vocabulary.jsonl")
    learn({w: min(n, 300) for w, n in c.items()}, path)  # a cap: templates must not swallow everything
    t, x, n = Tok(path), 0, 0
    for i in range(300):
        s = data.render(data.episode(random.Random(90000 + i), 1))[0]
        ids = t.encode(s)
        assert t.decode(ids) == s
        x, n = x + len(s), n + len(ids)
    print("%.2f characters per token, %.0f tokens per episode, %d fixed" % (x / n, n / 300, len(FIXED)))


if __name__ == "__main__": main()
