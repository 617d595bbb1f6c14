"""Made conversations with the agent, as the product prints them: question -> shed -> tool -> answer.

episode(rng, p) makes one, render(episode) gives its text and the spans that the assistant says; only those are learnt.
All that is random comes from the given random.Random: the same seed gives the same data. p from 0 to 1 is how far the
training is: it begins narrow, with values that are looked up, and widens.

What tools return is made here as the real tools print it (tools.py). test/wire.test.ts plays such conversations to the
real agent with the real tools, and fails where a letter differs.
"""
import os, random, re, string

import tools as T
from tools import Wire

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = open(os.path.join(HERE, "words.txt")).read().split()
SENTENCES = open(os.path.join(HERE, "sentences.txt")).read().strip().split("\n")

BEYOND = "I cannot help with that: I am only a small demonstration model."
HELLO = "Hello! Ask me for something in your files."
THANKS = "You are welcome."
DENIED = "I could not do that: it was not permitted."
NO_TOOL = "I cannot do that: I found no tool for it."
TOOLS = ("I find my tools with shed. I can look up values, titles and lines in files, list and count files, find definitions, calculate, "
         "remember, write a file and replace text in one.")
DEFINES = "(class|const|def|enum|fn|func|function|interface|let|struct|type|var) "
KEYS = """name version description license author main type module homepage repository private types bin port host timeout retries debug
verbose level path dir root user password database url endpoint region bucket token secret mode theme color language locale format
encoding title subtitle category tags status state owner team email phone city country price amount total count size width height depth
limit offset max min rate interval delay threshold start end date created updated engine node target output input source test build dev
deploy release channel branch commit tag env stage cluster zone image memory cpu disk replicas protocol method server client proxy cache
ttl queue topic group role scope id key value default enabled active visible year month day currency model driver schema table index
prefix suffix separator edition keywords sensor unit contact archive folder file paper sound font hour week season driver logo icon""".split()
SECTIONS = "server client database cache mail package project window export search logging api auth worker queue storage build test tool network general paths display sync backup user admin web".split()
FUNC = "the a of and in to is for with on that it by from be are at or not as all can you how what first new old my".split()


def weighted(r, pairs):
    return r.choices([x for x, _ in pairs], [w for _, w in pairs])[0]


class G:
    """Random names, values and phrases."""
    def __init__(s, r): s.r = r

    def w(s):
        r, x = s.r, s.r.random()
        if x < .7: return r.choice(WORDS)
        if x < .92: return "".join(r.choice("bcdfghklmnprstvwz") + r.choice(["a", "e", "i", "o", "u", "ou", "ea", "ar", "en"]) for _ in range(r.randint(2, 3)))
        return "".join(r.choice(string.ascii_lowercase) for _ in range(r.randint(2, 7)))

    def word(s): return s.w().capitalize() if s.r.random() < .3 else s.w()

    def phrase(s, a, b):
        """a to b words, some of a real sentence"""
        r = s.r
        if r.random() < .5:
            t = r.choice(SENTENCES).split(" ")
            n = r.randint(a, b)
            i = r.randint(0, max(0, len(t) - n)) if r.random() < .5 else 0
            x = " ".join(t[i:i + n]).strip(" .,:;!?()\"'")
            if len(x) > 2: return x
        return " ".join(r.choice(FUNC) if r.random() < .25 else s.word() for _ in range(r.randint(a, b)))

    def sentence(s):
        r = s.r
        if r.random() < .6: return r.choice(SENTENCES) + r.choice(["", "", "."])
        t = s.phrase(3, 9)
        return t[0].upper() + t[1:] + r.choice(["", "."])

    def title(s):
        t = s.phrase(1, 4)
        return t if s.r.random() < .3 else t[0].upper() + t[1:]

    def num(s):
        d = s.r.choice([1, 2, 2, 3, 3, 4, 4, 5])
        if d > 1 and s.r.random() < .3:  # 9000, 8080, 333: a digit again and again is hard to copy
            a, b = s.r.choice("123456789"), s.r.choice("0123456789")
            return a + "".join(s.r.choice(a + b + "000") for _ in range(d - 1))
        return str(s.r.randint(0 if d == 1 else 10 ** (d - 1), 10 ** d - 1))

    def ver(s):
        r = s.r
        v = ".".join(str(r.randint(0, r.choice([3, 9, 60]))) for _ in range(r.choice([3, 3, 3, 2])))
        return v + (r.choice(["-beta.1", "-rc.2", "-alpha", "-next.4"]) if r.random() < .06 else "")

    def url(s):
        r = s.r
        return r.choice(["https://", "https://", "http://", "postgres://", "redis://"]) + r.choice(["", "www.", "api.", s.w() + "@"]) + s.w() + r.choice([".com", ".org", ".io", ".example", ":" + s.num()]) + ("/" + s.w() if r.random() < .6 else "")

    def date(s): return "%d-%02d-%02d" % (s.r.randint(1990, 2030), s.r.randint(1, 12), s.r.randint(1, 28))

    def person(s):
        n = s.w().capitalize() + " " + s.w().capitalize()
        return n + (f" <{s.w()}@{s.w()}.{s.r.choice(['com', 'org', 'example'])}>" if s.r.random() < .4 else "")

    def value(s):
        r, x = s.r, s.r.random()
        if x < .13: return s.ver()
        if x < .30: return s.num()
        if x < .42: return s.w()
        if x < .56: return s.phrase(2, 6)
        if x < .63: return s.url()
        if x < .66: return s.w() + "@" + s.w() + r.choice([".com", ".org", ".example"])
        if x < .71: return r.choice(["true", "false"])
        if x < .75: return s.date()
        if x < .81: return s.ident()
        if x < .86: return r.choice(["./", "/", "", ""]) + s.w() + "/" + s.w() + r.choice([".js", ".ts", ".json", ".txt", ".sqlite", "", ".log"])
        if x < .89: return "".join(r.choice("0123456789abcdef") for _ in range(r.randint(6, 10)))
        if x < .92: return ".".join(str(r.randint(0, 255)) for _ in range(4))
        if x < .95: return str(r.randint(0, 99)) + "." + str(r.randint(0, 99))
        if x < .97 and r.random() < .6:
            return r.choice([lambda: f"{s.w()} && {s.w()} --{s.w()}", lambda: f"^{s.ver()} || ^{s.ver()}", lambda: f">={r.randint(1, 30)}", lambda: f"{s.w()}/**/*.{s.w()}", lambda: f"@{s.w()}/{s.w()}", lambda: f"{s.phrase(1, 2)}, {s.phrase(1, 2)} and {s.w()}", lambda: f"{s.w()} -{s.w()[0]} {s.w()}.{s.w()}.json", lambda: f"{s.w()}:{s.w()}", lambda: f"{s.w()} ({s.w()})"])()
        if x < .97: return r.choice(["MIT", "Apache-2.0", "BSD-3-Clause", "ISC", "GPL-3.0-only", "MPL-2.0"])
        return r.choice(["info", "warn", "localhost", "production", "utf-8", "en-US", "%d:%02d" % (r.randint(0, 23), r.randint(0, 59)), s.person()])

    def ident(s):
        a, b, x = s.w(), s.w(), s.r.random()
        return a + b.capitalize() if x < .4 else a + "_" + b if x < .6 else a + "-" + b if x < .75 else (a + "_" + b).upper() if x < .85 else a

    def key(s, style):
        r = s.r
        x = r.random()
        k = r.choice(KEYS) if x < .55 else s.w() if x < .7 else None
        if k is None:
            a, b = r.choice(KEYS) if r.random() < .6 else s.w(), r.choice(KEYS) if r.random() < .5 else s.w()
            if a == b: b = s.w()
            k = {"camel": a + b.capitalize(), "snake": a + "_" + b, "kebab": a + "-" + b, "upper": a + "_" + b}[style]
        return k.upper() if style == "upper" else k

    def keys(s, n, style):
        out = []
        while len(out) < n:
            k = s.key(style)
            if k not in out: out.append(k)
        return out

    def path(s, names, exts):
        r = s.r
        if r.random() < .45: f = r.choice(names)
        else: f = (s.w() if r.random() < .6 else s.ident()) + r.choice(exts)
        if r.random() < .25: f = r.choice(["src", "docs", "test", "lib", "data", "config", "packages/" + s.w(), s.w()]) + "/" + f
        return f

    def folder(s):
        r, x = s.r, s.r.random()
        return r.choice(["src", "docs", "test", "lib", "data", "config", "assets", "scripts"]) if x < .45 else s.w() if x < .75 else r.choice(["src", s.w()]) + "/" + s.w()


# ---- files: (path, lines, entries); an entry is (section, key, value) in the order of the lines
def quoted(v): return v if re.fullmatch(r"-?\d+(\.\d+)?|true|false", v) else '"%s"' % v


def near(g, ks, style, n):
    """further keys that have one of the others in them: what a search finds beside the one that is wanted"""
    r, out = g.r, []
    for _ in range(n):
        k, w = r.choice(ks), r.choice(KEYS) if r.random() < .5 else g.w()
        K, W = k[:1].upper() + k[1:], w[:1].upper() + w[1:]
        x = {"camel": [w + K, k + W, k + "s"], "snake": [w + "_" + k, k + "_" + w], "kebab": [w + "-" + k, k + "-" + w], "upper": [w.upper() + "_" + k, k + "_" + w.upper()]}[style]
        q = r.choice(x)
        if q not in ks and q not in out: out.append(q)
    return out


def entries(g, n, style):
    r = g.r
    ks = g.keys(n, style)
    ks += near(g, ks, style, r.choice([0, 0, 1, 2, 3]))
    r.shuffle(ks)
    vs = [g.value() for _ in ks]
    if r.random() < .3: vs[r.randrange(len(vs))] = r.choice(ks).lower() + r.choice(["", "s", "-" + g.w(), " " + g.w()])  # a key as another's value
    return list(zip(ks, vs))


def package_json(g, n):
    r = g.r
    top = [("name", (f"@{g.w()}/" if r.random() < .4 else "") + r.choice([g.w(), g.w() + "-" + g.w()])), ("version", g.ver())]
    rest = [("description", g.sentence()), ("license", g.r.choice(["MIT", "ISC", "Apache-2.0", "UNLICENSED", "BSD-3-Clause"])), ("author", g.person()), ("type", r.choice(["module", "commonjs"])),
            ("main", g.w() + "/" + g.w() + ".js"), ("types", "dist/" + g.w() + ".d.ts"), ("homepage", g.url()), ("private", r.choice(["true", "false"])), ("packageManager", "pnpm@" + g.ver())]
    top += r.sample(rest, min(len(rest), r.randint(2, n)))
    out, L = [], ["{"]
    for k, v in top: L.append(f'  "{k}": {quoted(v) if v in ("true", "false") else chr(34) + v + chr(34)},'); out.append(("", k, v))
    def inner(name, kv):
        L.extend([f'  "{name}": {{'] + [f'    "{k}": "{v}"' + ("," if i < len(kv) - 1 else "") for i, (k, v) in enumerate(kv)] + ["  },"])
    if r.random() < .4:  # what stands in a group has the same keys as what does not
        at = len(L)
        r.choice([lambda: inner("repository", [("type", "git"), ("url", "git+" + g.url() + ".git")]), lambda: inner("author", [("name", g.person().split(" <")[0]), ("email", g.w() + "@" + g.w() + ".org")]), lambda: inner("bugs", [("url", g.url()), ("email", g.w() + "@" + g.w() + ".com")]), lambda: inner("publishConfig", [("access", "public"), ("name", g.w())])])()
        moved = L[at:]
        del L[at:]
        i = r.randint(1, len(L))
        L[i:i] = moved
    def block(name, kv):
        L.append(f'  "{name}": {{')
        for i, (k, v) in enumerate(kv): L.append(f'    "{k}": "{v}"' + ("," if i < len(kv) - 1 else "")); out.append((name, k, v))
        L.append("  },")
    cmd = lambda: r.choice(["vitest run", "node --test", g.w() + " && " + g.w() + " " + g.w(), g.w() + " -p " + g.w() + "." + g.w() + ".json", "tsc -p tsconfig.json", "eslint .", "vite build", "node " + g.w() + ".js", "tsup", "biome check .", g.w() + " --" + g.w(), "rm -rf dist", "turbo run " + g.w()])
    if r.random() < .8: block("scripts", [(k, cmd() + (" && " + cmd() if r.random() < .25 else "")) for k in r.sample(["build", "test", "lint", "dev", "start", "format", "typecheck", "clean", "release", g.w(), g.w() + ":" + g.w()], r.randint(1, 6))])
    deps = lambda: [((f"@{g.w()}/" if r.random() < .3 else "") + r.choice([g.w(), g.w() + "-" + g.w(), r.choice(["react", "vite", "vitest", "typescript", "eslint", "zod", "express", "lodash", "@types/node"])]), r.choice(["^", "^", "~", ""]) + g.ver() if r.random() < .9 else "workspace:^") for _ in range(r.randint(1, 6))]
    seen = set()
    for b in ("dependencies", "devDependencies"):
        kv = [(k, v) for k, v in deps() if not (k in seen or seen.add(k))]
        if kv and r.random() < .7: block(b, kv)
    if r.random() < .4: L += ['  "engines": {', f'    "node": "{r.choice([">=", ">=", "^", ""])}{r.randint(18, 26)}{r.choice(["", "", ".4", ".18 || ^" + str(r.randint(20, 28)), ".0 || >=" + str(r.randint(24, 28))])}"', "  },"]
    L[-1] = L[-1].rstrip(",")
    return ("package.json" if r.random() < .75 else f"packages/{g.w()}/package.json"), L + ["}"], out


def json_file(g, n):
    r = g.r
    kv, L, out, ind = entries(g, n, r.choice(["camel", "camel", "snake"])), ["{"], [], r.choice(["  ", "  ", "    "])
    nest = g.keys(2, "camel") if n > 3 and r.random() < .6 else []
    sec = ""
    for i, (k, v) in enumerate(kv):
        if nest and r.random() < .25:
            if sec: L[-1] = L[-1].rstrip(","); L.append(ind + "},")
            sec = nest.pop()
            L.append(f'{ind}"{sec}": {{')
        L.append(f'{ind * (2 if sec else 1)}"{k}": {quoted(v)},')
        out.append((sec, k, v))
    L[-1] = L[-1].rstrip(",")
    if sec: L.append(ind + "}")
    return g.path(["config.json", "settings.json", "tsconfig.json", "data.json", "app.json", "plan.json"], [".json"]), L + ["}"], out


def sectioned(g, n, line, style, head="[%s]", comment="#"):
    r, L, out, sec = g.r, [], [], ""
    if r.random() < .25: L.append(comment + " " + g.phrase(2, 7))
    for k, v in entries(g, n, style):
        if r.random() < .28 or (not sec and r.random() < .5):
            sec = r.choice(SECTIONS) if r.random() < .7 else g.w()
            if L and r.random() < .8: L.append("")
            L.append(head % sec)
        if r.random() < .06: L.append(comment + " " + g.phrase(2, 6))
        L.append(line(k, v)); out.append((sec, k, v))
    return L, out


def ini_file(g, n):
    r = g.r
    sep, q = r.choice(["=", " = ", " = ", "= "]), r.random() < .1
    L, out = sectioned(g, n, lambda k, v: k + sep + ('"%s"' % v if q else v), r.choice(["snake", "camel", "snake"]), comment=r.choice(["#", ";"]))
    return g.path(["config.ini", "settings.ini", "app.ini", "setup.cfg", "app.conf"], [".ini", ".ini", ".cfg", ".conf"]), L, out


def toml_file(g, n):
    r = g.r
    def line(k, v):
        if re.fullmatch(r"\d+\.\d+(\.\d+)?.*", v) and r.random() < .4: return '%s = { version = "%s"%s }' % (k, v, r.choice(["", ', features = ["%s"]' % g.w(), ", optional = true"]))
        return k + " = " + quoted(v)
    L, out = sectioned(g, n, line, r.choice(["kebab", "snake", "kebab"]))
    return g.path(["Cargo.toml", "pyproject.toml", "config.toml", "app.toml"], [".toml"]), L, out


def env_file(g, n):
    r = g.r
    q = r.random() < .15
    kv = entries(g, n, "upper")
    L = (["# " + g.phrase(2, 6)] if r.random() < .3 else []) + [k + "=" + ('"%s"' % v if q or (" " in v and r.random() < .5) else v) for k, v in kv]
    return r.choice([".env", ".env", ".env", ".env.local", ".env.example", g.w() + ".env"]), L, [("", k, v) for k, v in kv]


def yaml_file(g, n):
    r, L, out, sec = g.r, [], [], ""
    if r.random() < .25: L.append("# " + g.phrase(2, 7))
    for k, v in entries(g, n, r.choice(["camel", "snake", "kebab"])):
        if r.random() < .3:
            sec = r.choice(SECTIONS) if r.random() < .7 else g.w()
            L.append(sec + ":")
        L.append(("  " if sec else "") + k + ": " + ('"%s"' % v if r.random() < .12 or ": " in v else v)); out.append((sec, k, v))
    return g.path(["config.yaml", "config.yml", "docker-compose.yml", "settings.yaml", "pubspec.yaml"], [".yaml", ".yml"]), L, out


FILES = [(package_json, 26), (json_file, 18), (ini_file, 15), (toml_file, 16), (env_file, 12), (yaml_file, 13)]
def some_file(g, n): return weighted(g.r, FILES)(g, n)


def markdown(g):
    """-> lines, first heading"""
    r, L = g.r, []
    x = r.random()
    if x < .18: L += [f"[![{g.w()}]({g.url()})]({g.url()})" for _ in range(r.randint(1, 3))] + [""]
    elif x < .3: L += [r.choice(["", "<p align=\"center\"><img src=\"%s.svg\"></p>" % g.w(), "---", g.sentence()]), ""]
    h = g.title()
    L += ["#" * (1 if r.random() < .9 else 2) + " " + h, ""]
    for _ in range(r.randint(0, 5)):
        if r.random() < .5: L += ["## " + r.choice(["Install", "Usage", "License", "Contributing", "API", g.title()]), ""]
        if r.random() < .2: L += ["```sh", "npm install " + g.w(), "```", ""]
        else: L += [r.choice(["", "", "- "]) + g.sentence(), ""]
    return L, h


# ---- one conversation
class Ep(Wire):
    """Builds a conversation turn by turn, see tools.Wire for the calls."""
    def __init__(s, r, renamed):
        super().__init__(r, renamed, G(r).w)
        s.g, s.asked = G(r), None

    def no_file(s, f): s.say(f"I could not find the file {f}.")


def ask_value(e, k, f, first):
    r = e.r
    if not first: return r.choice([f"And the {k}?", f"and the {k}?", f"And {k}?", f"What about the {k}?", f"and {k}?", f"And what is the {k}?", f"And the {k} in it?"])
    return weighted(r, [(f"What is the {k} in {f}?", 10), (f"What is {k} in {f}?", 4), (f"what is the {k} in {f}", 3), (f"What's the {k} in {f}?", 2), (f"Which {k} does {f} have?", 2), (f"Tell me the {k} from {f}.", 2), (f"Read {f} and tell me the {k}.", 2),
                        (f"Look in {f}: what is {k}?", 2), (f"{f}: what is {k}?", 1), (f"What is {k} set to in {f}?", 2), (f"What is the value of {k} in {f}?", 2), (f"What value does {k} have in {f}?", 1), (f"Please find the {k} in {f}.", 1), (f"get {k} from {f}", 1),
                        (f"What does {f} say about {k}?", 1), (f"What does {f} say about the {k}?", 1), (f"Who is the {k} in {f}?", 1), (f"What are the {k} in {f}?", 1), (f"Which {k} is in {f}?", 1), (f"Open {f}. What is the {k}?", 1), (f"I need the {k} of {f}.", 1),
                        (f"How many {k} does {f} allow?", .5), (f"Is {k} true or false in {f}?", .7), (f"what does {k} say in {f}?", .5), (f"Show me the {k} in {f}", 1), (f"{f}: {k}?", .6), (f"{k} in {f}?", .7), (f"In {f}, what is the {k}?", 1.5), (f"What {k} is set in {f}?", .7), (f"what {k} does {f} have?", .7), (f"What {k} does {f} use?", .7),
                        (f"Give me the {k} in {f}", .7), (f"Where is the {k}? Look in {f}", .5), (f"What is the {k} of this project? See {f}", .7), (f"Find {k} in {f}", .6), (f"Tell me the {k} in {f} please", .7), (f"I want to know the {k} from {f}", .4), (f"What is the {k} of {f}?", 1.5),
                        (f"What is the {k} of the {r.choice(['package', 'project', 'program', 'app'])} in {f}?", .7 if f.endswith("package.json") else 0), (f"Can you tell me the {k} in {f}?", 1)])


def named(e, question, f):
    """the question with the file named otherwise: in quotes, or before the rest"""
    if e.r.random() < .05: return question.replace(f, f'"{f}"')
    return question


def spoken(k):
    """a key as people say it: pageSize -> page size"""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]", " ", k).lower()


def of_key(k):
    """what finds the lines that have just this key, in whatever kind of file: the tool chooses, the model copies"""
    return r"^\W*" + k + r"\W*[:=]"


def sk_value(e, p):
    """a search for the key in that file; a second one, for the plain word in any case, where that finds nothing"""
    r, g = e.r, e.g
    f, L, out = some_file(g, r.randint(2, 5 if p < .08 or "search" not in e.has else 9 if p < .2 else 16))
    if f in e.files or ("search" not in e.has and len(L) > 16): return
    e.files[f] = L
    plain = [x for x in out if re.fullmatch(r"[\w@/:.-]+", x[1])] or out
    n, first = 0, True
    while n == 0 or (r.random() < .6 and n < 5):
        sec, k, v = r.choice(plain)
        n += 1
        x, wide = r.random(), p > .12
        if wide and x < .13: absent_value(e, f, L, out, first)
        elif wide and x < .25 and sum(k2 == k for _, k2, _ in out) == 1 and spoken(k) != k and len(spoken(k).split()) > 1: spoken_value(e, f, L, spoken(k), k, v, first)
        elif wide and x < .29 and other_case(e, f, L, k, first): pass
        elif wide and x < .31: group(e, f, L, first)
        elif wide and x < .38 and sec: section_value(e, f, L, sec, k, first)
        elif wide and x < .46 and out and sec in ("dependencies", "devDependencies", "scripts", "") or "{ version" in "".join(L): dependency(e, f, L, out, first)
        else:
            e.user(named(e, ask_value(e, k, f, first), f))
            res = e.search(of_key(T.literal(k)), f)
            e.say(f"The {k} is {T.value_of(res, k)}.")
        first = False
        if p > .15 and r.random() < .15: first = True


def absent_value(e, f, L, out, first):
    r, g = e.r, e.g
    text = "\n".join(L)
    for _ in range(50):
        k = g.key(r.choice(["camel", "snake", "kebab"])) if r.random() < .85 else g.key("upper")
        if r.random() < .3: k = r.choice(["license", "version", "homepage", "author", "port", "password", "host", "color", "engines", "name"])
        if k.lower() not in text.lower(): break
        if r.random() < .7 and T.grep(L, of_key(T.literal(k)), f) == T.NOTHING and T.value_of(T.grep(L, "(?i)" + T.literal(k), f), k, True) is None: break
    else: return
    e.user(ask_value(e, k, f, first))
    if e.search(of_key(T.literal(k)), f) == T.NOTHING: e.search(T.literal(k), f, ignore_case=True)
    e.say(f"I could not find {k} in {f}.")


def spoken_value(e, f, L, said, k, v, first):
    e.user(ask_value(e, said, f, first))
    res = e.search(of_key(".?".join(said.split())), f, ignore_case=True)
    value = T.value_of(res, k)
    e.say(f"The {said} is {value}.")


def other_case(e, f, L, k, first):
    """asked for in small letters where the file has capitals, or the other way: the second look finds it"""
    said = e.r.choice([k.lower(), k.lower(), k.capitalize()])
    if said == k or T.grep(L, of_key(T.literal(said)), f) != T.NOTHING or T.value_of(T.grep(L, "(?i)" + T.literal(said), f), said, True) is None: return False
    e.user(ask_value(e, said, f, first))
    e.search(of_key(T.literal(said)), f)
    res = e.search(T.literal(said), f, ignore_case=True)
    e.say(f"The {said} is {T.value_of(res, said, True)}.")
    return True


def group(e, f, L, first):
    """a key that opens a group"""
    names = [m.group(1) for m in (re.match(r"\s*\"?([\w-]+)\"?:\s*\{?$", l) for l in L) if m]
    if not names: return
    k = e.r.choice(names)
    res = T.grep(L, of_key(T.literal(k)), f)
    if T.value_of(res, k) is not None: return
    e.user(ask_value(e, k, f, first))
    e.search(of_key(T.literal(k)), f)
    e.say(f"I could not find a value of {k} in {f}: it is a group.")


def section_value(e, f, L, sec, k, first):
    r = e.r
    e.user(r.choice([f"What is the {k} of the {sec} in {f}?", f"What is the {k} of {sec} in {f}?", f"Which {k} does the {sec} have in {f}?", f"What is {k} in the {sec} section of {f}?", f"What is the {k} under {sec} in {f}?", f"Which {k} does {sec} have in {f}?", f"In {f}, what is the {k} of the {sec}?"]))
    res = e.search(rf"^\W*({T.literal(sec)}|{T.literal(k)})\W", f)
    v = T.value_in(res, sec, k)
    e.say(f"The {k} of {sec} is {v}." if v is not None else f"I could not find the {k} of {sec} in {f}.")


def dependency(e, f, L, out, first):
    """the version of something, a script"""
    r = e.r
    c = [x for x in out if re.search(r"\d\.\d", x[2])]
    s = [x for x in out if x[0] == "scripts"]
    if s and (not c or r.random() < .4):
        _, k, _ = r.choice(s)
        e.user(r.choice([f"What is the {k} script in {f}?", f"What does the {k} script of {f} run?", f"Which command is the {k} script in {f}?", f"What is the script {k} in {f}?"]))
        v = T.value_of(e.search(of_key(T.literal(k)), f), k)
        return e.say(f"The {k} script is {v}.")
    if not c: return
    _, k, _ = r.choice(c)
    if k == "version": return
    e.user(r.choice([f"Which version of {k} is in {f}?", f"What is the version of {k} in {f}?", f"Which version of {k} does {f} have?", f"What version of {k} does {f} use?", f"Which {k} version is in {f}?"]))
    v = T.value_of(e.search(of_key(T.literal(k)), f), k)
    e.say(f"The version of {k} is {v}.")


def sk_inline(e, p):
    """the text goes along with the question"""
    r, g = e.r, e.g
    f, L, out = some_file(g, r.randint(2, 6))
    text, questions = "\n".join(L), 0
    _, k, _ = r.choice(out)
    v = T.value_of("\n\n\n" + "\n".join(f"1:{l}" for l in L), k)
    if v is None: return sk_value(e, p)
    q = r.choice([f"What is the {k}?", f"What is {k}?", f"what is the {k}", f"What is the {k} here?", f"Which {k} is this?"])
    e.user(f"From standard input:\n{text}\n\n{q}" if r.random() < .7 else text + "\n\n" + q)
    e.say(f"The {k} is {v}.")


def sk_nofile(e, p):
    r, g = e.r, e.g
    f, _, out = some_file(g, 3)
    if f in e.files: return sk_value(e, p)
    e.user(ask_value(e, r.choice(out)[1] if r.random() < .7 else g.key("camel"), f, True))
    q = e.t[-1][1]
    e.search(of_key(e.last_key(q, f)), f, missing=True)
    e.no_file(f)


def sk_title(e, p):
    r, g = e.r, e.g
    f = g.path(["README.md", "README.md", "README.md", "CHANGELOG.md", "docs/guide.md", "TODO.md"], [".md"])
    if f in e.files: return sk_value(e, p)
    L, h = markdown(g)
    miss = p > .2 and r.random() < .1
    if miss: L = [g.sentence() for _ in range(3)]
    gone = p > .2 and r.random() < .08
    if not gone: e.files[f] = L
    e.user(r.choice([f"What is the title of {f}?", f"What is the first heading of {f}?", f"What is the heading of {f}?", f"Which heading comes first in {f}?", f"What is the first heading in {f}?", f"Tell me the title of {f}", f"what is the title of {f}", f"Read {f} and tell me the title.", f"What is {f} called?", f"What's the title of {f}?", f"title of {f}?"]))
    e.search("^#+ ", f, limit=1, missing=gone)
    e.no_file(f) if gone else e.say(f"I could not find a heading in {f}." if miss else f"The first heading is {h}.")


def sk_line(e, p):
    r, g = e.r, e.g
    f = g.path(["notes.txt", "todo.txt", "names.txt", "README.md", "app.log", "data.csv"], [".txt", ".log", ".md", ".csv"])
    if f in e.files: return sk_value(e, p)
    csv = lambda: ",".join(r.choice([g.w(), g.num(), g.date()]) for _ in range(r.randint(2, 5)))
    L = [csv() for _ in range(r.randint(2, 9))] if f.endswith(".csv") else [r.choice([g.sentence, g.sentence, lambda: g.phrase(2, 6), lambda: "# " + g.title(), lambda: "- " + g.phrase(2, 5)])() for _ in range(r.randint(2, 9))]
    gone = p > .2 and r.random() < .12
    if not gone: e.files[f] = L
    last = p > .1 and r.random() < .35
    w = "last" if last else "first"
    e.user(named(e, r.choice([f"{f} what is the {w} line?", f"What is the {w} line of {f}?", f"What is the {w} line in {f}?", f"Show me the {w} line of {f}", f"Read {f} and give me the {w} line.", f"{w} line of {f}?", f"Tell me the {w} line of {f}.", f"what's the {w} line of {f}", f"What does the {w} line of {f} say?"]), f))
    if last: e.bash(f"tail -n 1 {f}", "Show the last line", T.no_such("tail", f) if gone else L[-1], 1 if gone else 0)
    else: e.read(f, limit=1, missing=gone)
    e.no_file(f) if gone else e.say(f"The {w} line is: {L[-1 if last else 0]}")


def names(g, n):
    r = g.r
    out = {}
    for _ in range(n):
        f = (g.w() if r.random() < .7 else g.ident()) + r.choice([".ts", ".js", ".md", ".json", ".txt", ".py", ".rs", ".csv", ".toml", ".yaml", ".html", ""])
        if f.lower() not in out: out[f.lower()] = f if r.random() < .9 else f[0].upper() + f[1:]
    return sorted(out.values(), key=T.name_key)


def sk_list(e, p):
    r, g = e.r, e.g
    here = r.random() < .3
    d = "." if here else g.folder()
    fs = names(g, r.randint(1, 9)) if r.random() > .05 else []
    gone = not here and p > .2 and r.random() < .08
    e.user(r.choice(["Which files are here?", "List the files here.", "List the files", "What files are in this folder?", "What is in this folder?", "list files", "Show me the files here"]) if here else r.choice([f"Which files are in {d}?", f"List the files in {d}", f"What is in the folder {d}?", f"List {d}", f"Show me the files in {d}.", f"What files are in {d}?", f"which files are in the folder {d}"]))
    e.list(d, fs, gone)
    if gone: return e.say(f"I could not find the folder {d}.")
    shown = [x for x in fs if not x.startswith(".")]
    where = "here" if here else f"in {d}"
    e.say(f"The files {where} are {', '.join(shown)}." if shown else f"There are no files {where}.")


def sk_count(e, p):
    r, g = e.r, e.g
    if r.random() < .45:
        f = g.path(["notes.txt", "README.md", "src/index.ts", "app.log", "main.py"], [".txt", ".md", ".ts", ".py", ".rs", ".json", ".csv"])
        n, gone = r.randint(0, r.choice([9, 60, 900])), p > .2 and r.random() < .1
        e.user(r.choice([f"How many lines does {f} have?", f"How many lines are in {f}?", f"Count the lines of {f}", f"count the lines in {f}", f"How long is {f}?", f"How many lines has {f}?"]))
        if not gone: e.disk[f] = ["x"] * n
        e.bash(f"grep -c '' {f}", "Count the lines", T.no_such("grep", f) if gone else str(n), 2 if gone else 0 if n else 1)
        return e.no_file(f) if gone else e.say(f"{f} has {n} {'line' if n == 1 else 'lines'}.")
    here = r.random() < .3
    d, n, gone = "." if here else g.folder(), r.randint(0, r.choice([6, 30, 300])), p > .2 and r.random() < .08
    e.user(r.choice(["How many files are here?", "How many files are in this folder?", "Count the files here.", "Count the files", "how many files are there"]) if here else r.choice([f"How many files are in {d}?", f"How many files are in the folder {d}?", f"Count the files in {d}", f"how many files does {d} have?", f"How many files are there in {d}?"]))
    gone = gone and not here
    if not gone: e.disk.update({(f"{d}/" if not here else "") + f"x{i}": ["x"] for i in range(n)} or {d + "/": []})
    e.bash(f"find {d} -maxdepth 1 -type f | wc -l", "Count the files", T.no_such("find", d) + "\n0" if gone else str(n), 0)
    if gone: return e.say(f"I could not find the folder {d}.")
    e.say(f"There {'is 1 file' if n == 1 else f'are {n} files'} {'here' if here else 'in ' + d}.")


def code(g, name):
    """lines of code that define a name, and where"""
    r = g.r
    d = r.choice([f"export function {name}({g.w()}: {g.w().capitalize()}): void {{", f"function {name}() {{", f"export async function {name}({g.w()}) {{", f"const {name} = {g.num()};", f"export const {name} = () => {{", f"class {name}:", f"export class {name} {{",
                  f"def {name}({g.w()}, {g.w()}):", f"    def {name}(self):", f"pub fn {name}({g.w()}: &str) -> String {{", f"pub struct {name} {{", f"export interface {name} {{", f"type {name} = {g.w()};", f"func {name}({g.w()} string) error {{", f"pub enum {name} {{", f"let {name} = {g.w()}({g.w()});"])
    use = lambda: r.choice([f"  return {name}({g.w()});", f"import {{ {name} }} from \"./{g.w()}.js\";", f"from .{g.w()} import {name}", f"  await {name}();", f"// {name}: {g.phrase(2, 5)}"])
    return d, use


def sk_defined(e, p):
    r, g = e.r, e.g
    x = r.random()
    name = g.w() + g.w().capitalize() if x < .4 else g.w().capitalize() + (g.w().capitalize() if r.random() < .6 else "") if x < .7 else g.w() + "_" + g.w() if x < .9 else g.w()
    ext = r.choice([".ts", ".ts", ".py", ".rs", ".js", ".go"])
    f = g.path(["src/index.ts", "src/main.rs", "src/app.ts", "lib/util.py"], [ext])
    e.user(r.choice([f"Where is {name} defined?", f"Which file defines {name}?", f"In which file is {name} defined?", f"Where is the {r.choice(['function', 'class', 'type', 'constant'])} {name} defined?", f"Where is {name} declared?", f"where is {name} defined", f"Find the definition of {name}.", f"Where can I find the definition of {name}?"]))
    d, use = code(g, name)
    kind = r.random()
    if kind < .12 and p > .2:
        e.search_all(DEFINES + name, [])
        e.search_all(name, [])
        return e.say(f"I could not find {name}.")
    if kind < .2 and p > .2:
        n = r.randint(1, 300)
        e.search_all(DEFINES + name, [])
        lines = [(n, r.choice([use(), f"{name} = {g.value()}", f"{name}: {g.w()}"]))] + [(n + r.randint(1, 9) + 10 * i, use()) for i in range(r.choice([0, 0, 1, 2]))]
        e.search_all(name, [(f, lines)])
        return e.say(f"{name} is in {f}, line {n}.")
    n = r.randint(1, 300)
    hits = [(f, [(n, d)])]
    if r.random() < .15: hits.append((g.path(["test/app.test.ts"], [ext]), [(r.randint(1, 99), code(g, name + g.w().capitalize())[0])]))
    if len(hits) > 1 and (hits[0][0] == hits[1][0] or T.path_key(hits[0][0]) > T.path_key(hits[1][0])): hits.pop()
    e.search_all(DEFINES + name, hits)
    e.say(f"{name} is defined in {f}, line {n}.")


def sk_mention(e, p):
    r, g = e.r, e.g
    q = g.ident() if r.random() < .5 else g.w()
    f, n = g.path(["README.md", "src/app.ts", "docs/guide.md"], [".md", ".ts", ".txt", ".py"]), r.randint(1, 300)
    e.user(r.choice([f"Which file mentions {q}?", f"Search for {q} in the files.", f"Where is {q} mentioned?", f"Which file has {q} in it?", f"Where is {q} used?", f"Find {q} in the files"]))
    if p > .2 and r.random() < .2:
        e.search_all(T.literal(q), [])
        return e.say(f"I could not find {q}.")
    e.search_all(T.literal(q), [(f, [(n, g.phrase(0, 3) + " " + q + " " + g.phrase(1, 3))])])
    e.say(f"{q} is in {f}, line {n}.")


def sk_calc(e, p):
    r = e.r
    num = lambda: e.g.num() if r.random() < .3 else str(r.randint(1, r.choice([20, 200, 9999]))) if r.random() < .85 else "%.*f" % (r.randint(1, 2), r.uniform(0.1, 100))
    a, b, o = num(), num(), r.choice("+-*/")
    w = {"+": ["plus"], "-": ["minus"], "*": ["times", "x", "multiplied by"], "/": ["divided by"]}[o]
    ex = f"{a} {o} {b}"
    x = r.choice([ex, ex, f"{a} {r.choice(w)} {b}", f"{a}{o}{b}"])
    if r.random() < .25:
        c, o2 = num(), r.choice("+-*")
        x = ex = r.choice([f"({a} {o} {b}) {o2} {c}", f"{a} {o} {b} {o2} {c}", f"{a} {o2} ({b} {o} {c})"])
    try: res = T.awk_number(eval(ex))
    except ZeroDivisionError: return sk_calc(e, p)
    e.user(r.choice([f"What is {x}?", f"What is {x}?", f"Calculate {x}", f"How much is {x}?", f"{x}?", f"what is {x}", f"Please compute {x}.", f"{x} =", f"calculate {x}."]))
    e.bash("awk 'BEGIN {print " + ex + "}'", "Calculate", res, 0)
    e.say(f"{ex} = {res}")


def fact(g):
    r = g.r
    who = lambda: r.choice("cat dog sister boss project server friend password birthday car team brother daughter street favourite hotel flight".split()) if r.random() < .6 else g.w()
    o = r.choice(["my", "the", "our", "my"])
    k = who() + (" " + g.w() if r.random() < .2 else "")
    v = r.choice([g.word, lambda: g.phrase(1, 3), g.value, g.num])().rstrip(".")
    i = r.choice(["is", "is", "is", "is called", "lives in", "is on"])
    return o, k, i, v


def sk_remember(e, p):
    r, g = e.r, e.g
    o, k, i, v = fact(g)
    t = f"{o} {k} {i} {v}" if r.random() < .75 else r.choice([f"I like {g.phrase(1, 3)}", f"we meet at {g.word()} on {g.date()}", g.phrase(3, 7), f"I use {g.w()} for {g.w()}"])
    if t.lower() in [x.lower() for x in e.facts]: return
    e.user(r.choice([f"Remember that {t}.", f"Remember that {t}.", f"Please remember that {t}", f"remember: {t}", f"Remember {t}", f"Note that {t}.", f"Keep in mind that {t}.", f"remember that {t}"]))
    e.remember(t)
    e.say(f"I will remember that {t}.")
    if p > .12 and r.random() < .7 and t.startswith(o + " "): recall(e, o, k, i, v)


def recall(e, o, k, i, v):
    r = e.r
    if r.random() < .3 and e.budget > 0: e.budget -= 1; weighted(r, SKILLS)(e, 1)
    e.user(r.choice([f"What is {o} {k}?", f"what is {o} {k}?", f"Do you remember {o} {k}?", f"What did I say about {o} {k}?", f"Tell me {o} {k}."] + ([f"What is {o} {k} called?"] if i == "is called" else []) + ([f"Where does {o} {k} live?"] if i == "lives in" else [])))
    e.say(f"You told me that {o} {k} {i} {v}.")


def sk_forgotten(e, p):
    r, g = e.r, e.g
    o, k, i, v = fact(g)
    if any(k in x for x in e.facts): return
    o = r.choice(["my", "my", "our"])
    e.user(r.choice([f"What is {o} {k}?", f"Do you remember {o} {k}?", f"What did I say about {o} {k}?"]))
    e.say(f"I do not remember {'your' if o == 'my' else 'your'} {k}.")


def sk_write(e, p):
    r, g = e.r, e.g
    f = g.path(["note.txt", "notes.txt", "todo.md", "list.txt"], [".txt", ".md"])
    t = r.choice([lambda: g.phrase(1, 5), lambda: g.phrase(2, 6), g.sentence, g.value])().rstrip(".")
    if '"' in t or "'" in t or f in e.files: return sk_value(e, p)
    e.user(r.choice([f"Write {t} to {f}", f"Write {t} to {f}.", f"Create {f} with the text {t}", f"Create a file {f} with the text {t}", f"Create a file {f} that says {t}", f"Make a file {f} with {t}", f"Write '{t}' to {f}", f"Save {t} in {f}", f'Write "{t}" to {f}', f'Write "{t}" into {f}', f'Create {f} with "{t}"', f"write {t} to {f}"]))
    e.write(f, t)
    e.say(f"I wrote {f}.")


def sk_edit(e, p):
    r, g = e.r, e.g
    f = some_file(g, 2)[0] if r.random() < .6 else g.path(["notes.txt", "README.md"], [".txt", ".md", ".ts"])
    a, b = (r.choice([g.w, g.num, lambda: g.phrase(1, 3), g.value])() for _ in range(2))
    if a == b or '"' in a + b or "'" in a + b or f in e.files: return sk_value(e, p)
    e.user(r.choice([f"Replace {a} by {b} in {f}", f"Replace {a} with {b} in {f}", f"Replace {a} with {b} in {f}.", f"In {f}, replace {a} by {b}", f"In {f} replace {a} with {b}", f"Change {a} to {b} in {f}", f"In {f} change {a} to {b}", f"In {f}, change {a} to {b}.", f"replace {a} with {b} in {f}", f"Replace '{a}' by '{b}' in {f}", f'Replace "{a}" with "{b}" in {f}']))
    x = r.random()
    if p > .2 and x < .08:
        e.edit(f, a, b, "missing")
        return e.say(f"I could not find {a} in {f}.")
    if p > .2 and x < .14:
        e.edit(f, a, b, "gone")
        return e.no_file(f)
    e.edit(f, a, b, r.randint(1, 60))
    e.say(f"I replaced {a} by {b} in {f}.")


def sk_talk(e, p):
    r, g, x = e.r, e.g, e.r.random()
    if x < .3: e.user(r.choice(["Hi", "Hello", "hello", "hi!", "Hey", "Hello!", "Good morning", "hi there", "Hey there", "Good evening", "Hello there"])); e.say(HELLO)
    elif x < .42: e.user(r.choice(["Thanks", "Thank you!", "thanks a lot", "Thank you", "Great, thanks", "ok thanks", "thanks"])); e.say(THANKS)
    else: e.user(r.choice(["Who are you?", "What are you?", "who are you", "What is your name?", "What can you do?", "Help", "help", "What can I ask you?", "How can you help me?", "what can you do", "What tools do you have?", "Which tools do you have?", "what tools do you have", "List your tools", "What are your tools?", "Which tools can you use?"])); e.say(TOOLS)


def sk_beyond(e, p):
    r, g = e.r, e.g
    w, n = lambda: g.phrase(1, 2) if r.random() < .5 else g.w(), lambda: g.w().capitalize()
    e.user(r.choice([f"Write a {r.choice(['poem', 'song', 'story', 'letter', 'joke', 'speech'])} about {r.choice(['the ', ''])}{w()}", f"What do you think about {w()}?", f"Tell me a story about {w()} and {w()}", f"Who invented {w()}?", f"Why {r.choice(['do', 'are', 'is', 'did', 'does'])} {w()} {g.w()}?", f"Explain {w()} to me.", f"Translate {w()} to {r.choice(['French', 'German', 'Spanish'])}",
                     f"What is the capital of {n()}?", f"How do I cook {w()}?", f"Is {w()} better than {w()}?", f"Is {n()} better than {n()}?", f"Who was {n()} {n()}?", f"Who won the {w()} in {g.num()}?", f"What is the meaning of {w()}?", f"Give me advice about {w()}.", "Tell me a joke", f"When did {w()} {g.w()}?", f"Why did {w()} {g.w()} the {w()}?",
                     f"Can you {g.w()} my {w()}?", g.phrase(2, 6), f"How old is {n()}?", f"Write code for {w()}", f"How does {w()} work?", f"Why is the {w()} {g.w()}?", f"How many {w()} are in a {g.w()}?", f"Should I {g.w()} {w()}?", f"Which {g.w()} is the best?", f"What happened in {g.num()}?", f"How far is it to {n()}?", f"Fix the bugs in my code", f"Do you like {w()}?", f"Summarize {w()}", f"How is the weather in {n()}?"]))
    e.say(BEYOND)


SKILLS = [(sk_value, 40), (sk_inline, 4), (sk_nofile, 3), (sk_title, 8), (sk_line, 8), (sk_list, 8), (sk_count, 7), (sk_defined, 10), (sk_mention, 2), (sk_calc, 9), (sk_remember, 9), (sk_forgotten, 1), (sk_write, 9), (sk_edit, 11), (sk_talk, 3), (sk_beyond, 5)]
SYSTEM = ["You are a helpful assistant.", "You are a helpful assistant. Use the tools to answer.", "Be brief.", "You are a coding agent that runs in the terminal of the user.", "Answer in one sentence.", "You work in the folder of the user. Never make up facts."]


def episode(r, p=1.0, skill=None, renamed=None, few=None):
    """few: with the file tools alone"""
    if renamed is None: renamed = p > .1 and r.random() < .4
    e = Ep(r, renamed)
    if p > .1 and r.random() < .25: e.system = " ".join(r.sample(SYSTEM, r.randint(0, 2)) + [s + "." for s in r.sample(SENTENCES, r.choice([0, 1, 2, 4, 7]))])
    e.budget = 0 if skill else 3
    e.strict = few is None and p > .2
    if (p > .2 and r.random() < .07) if few is None else few: e.has = {"read", "write", "edit", "list"}
    for _ in range(1 if skill or p < .06 else weighted(r, [(1, 5), (2, 3), (3, 2)])):
        f = skill or (sk_value if p < .05 and r.random() < .8 else weighted(r, SKILLS))
        try: f(e, p)
        except T.NoTool: e.say(NO_TOOL)
        except T.Denied: e.say(DENIED)
    return e


def render(e):
    """-> text, [(start, end)] of what the assistant says, with its end mark. The same text as template.jinja's."""
    out, spans = "<|im_start|>system\n" + (e.system + "\n" if e.system else "") + T.SHED + "<|im_end|>\n", []
    for role, text in e.t:
        if role == "user": out += "<|im_start|>user\n" + text + "<|im_end|>\n"
        elif role == "tool": out += "<|im_start|>user\n<tool_response>\n" + text + "\n</tool_response><|im_end|>\n"
        else:
            out += "<|im_start|>assistant\n"
            start = len(out)
            out += text + "<|im_end|>"
            spans.append((start, len(out)))
            out += "\n"
    return out, spans
