"""The tools of the product as the model sees them: how they are declared, called, and what they return."""
import json, re

SHED = "def shed(description, limit?): Looks up the tools that can do something"
NOTHING = "No line matches."
# what the model asks shed for, the usual name, parameters (needed ones first as the tool has them), first sentence
TOOLS = {
    "search": ("search in files", "search_file", ["query", "kind?", "paths?", "glob?"], "Search files"),
    "read": ("read a file", "read", ["path", "offset?", "limit?"], "Read a file"),
    "bash": ("run a command", "bash", ["command", "description", "timeout?", "cwd?"], "Run a shell command"),
    "list": ("list files", "list", ["path?", "depth?", "hidden?"], "List the files of a folder"),
    "write": ("write a file", "write", ["path", "content"], "Write a file"),
    "edit": ("edit a file", "edit", ["path", "old_string", "new_string", "replace_all?"], "Edit a file"),
    "memory": ("remember a fact", "memory", ["command", "fact?", "old_fact?"], "Remember facts for the rest of this session"),
}
OTHER = {"search": "grep search find_text searchText code_search lookup lines_with", "read": "cat view read_file open_file get_text readFile load show_file", "bash": "shell run exec run_command terminal sh execute", "list": "ls dir list_dir folder list_files tree",
         "write": "save write_file create_file put_file writeFile", "edit": "replace str_replace edit_file patch modify change_text", "memory": "notes remember facts brain keep_fact"}
PARAMS = {"query": "pattern text regex q expression", "path": "file filename file_path target location", "command": "cmd script shell_command code", "content": "text data contents", "old_string": "old find old_text search_for", "new_string": "new replacement new_text replace_with", "paths": "files where", "description": "why about"}


def dumps(x): return json.dumps(x, ensure_ascii=False)
def quote(x): return dumps(x)
def plural(n, word): return f"{n} {word}" + ("" if n == 1 else "s")
def literal(k): return re.sub(r"([.*+?()\[\]{}|^$\\])", r"\\\1", k)
def name_key(f): return f.lower()
def path_key(f): return f.lower()


def grep(lines, query, path):
    q = re.compile(query)
    found = [(i + 1, l) for i, l in enumerate(lines) if q.search(l)]
    return blocks([(path, found)]) if found else NOTHING


def blocks(hits):
    n = sum(len(h) for _, h in hits)
    return f"{n} matching line{'' if n == 1 else 's'} in {plural(len(hits), 'file')}\n\n" + "\n\n".join("\n".join([f] + [f"{i}:{l}" for i, l in h]) for f, h in hits)


def plain(v):
    v = v.strip().rstrip(",").strip()
    m = re.match(r'\{ *version *= *"([^"]*)"', v)
    if m: return m.group(1)
    m = re.fullmatch(r'"(.*)"', v)
    return m.group(1) if m else v


def value_of(result, key, any_case=False):
    """the value of the line of a search's result that has just this key: the one that is indented least, the first of such"""
    best = None
    for line in result.split("\n")[3:]:
        m = re.match(r"\d+:(\s*)\"?(" + re.escape(key) + r")\"?\s*[:=]\s*(.+)$", line, re.I if any_case else 0)
        if m and not m.group(3).strip() in ("{", "[") and (best is None or len(m.group(1)) < best[0]): best = len(m.group(1)), plain(m.group(3))
    return best and best[1]


def value_in(result, section, key):
    """the value of the first such line behind the one that opens the section"""
    L = result.split("\n")[3:]
    for i, line in enumerate(L):
        if re.match(r"\d+:\s*(\[" + re.escape(section) + r"\]|\"?" + re.escape(section) + r"\"?:\s*\{?)$", line):
            return value_of("\n\n\n" + "\n".join(L[i + 1:]), key)
    return None


def no_such(program, path):
    q = {"tail": f"tail: cannot open '{path}' for reading", "grep": f"grep: {path}", "find": f"find: '{path}'"}[program]
    return q + ": No such file or directory"


def awk_number(x):
    """as awk prints it: whole numbers whole, others with six digits"""
    if x == int(x): return str(int(x))
    return "%.6g" % x


class NoTool(Exception):
    """What was wanted is not offered here."""


class Denied(Exception):
    """The user, or the program, did not let a call run."""


# what a session finds in place of what it does not offer, where it has the file tools alone; nothing for memory
INSTEAD = {"search": "edit", "bash": "read"}


class Wire:
    """The conversation: what is said, the tools that are known, what lies in the folder and in memory."""
    def __init__(s, r, renamed, word):
        s.r, s.t, s.known, s.files, s.facts, s.system = r, [], set(), {}, [], ""
        s.has, s.lacks, s.seen, s.strict, s.other = set(TOOLS), set(), set(), False, word
        s.disk = {}  # what else must lie in the folder for the results to be real
        s.tool = {}
        for k, (want, name, params, desc) in TOOLS.items():
            if k == "bash" and r.random() < .3: params = ["command", "description", "timeout?", "is_background?"]  # where it is offered
            alias = {}
            if renamed and r.random() < .9:
                x = r.random()
                name = r.choice(OTHER[k].split()) if x < .5 else word() + "_" + word() if x < .85 else word()
                for p in params:
                    b = p.rstrip("?")
                    often = .08 if b in ("paths", "description") else .6 if k in ("write", "edit") else .35
                    if b in PARAMS and k != "memory" and r.random() < often: alias[b] = word() if r.random() < .3 else r.choice(PARAMS[b].split())
                if len(set(alias.values()) | {p.rstrip("?") for p in params} - set(alias)) < len(params): alias = {}
            s.tool[k] = (want, name, params, desc, alias)
        if len({v[1] for v in s.tool.values()} | {"shed"}) < 8: s.tool = {k: (v[0], v[1], v[2], v[3], {}) for k, v in TOOLS.items()}

    def user(s, x): s.t.append(("user", x))
    def say(s, x): s.t.append(("assistant", x))
    def p(s, tool, name): return s.tool[tool][4].get(name, name)

    def look_up(s, want, found):
        """what shed says of a tool that it found"""
        _, name, params, desc, alias = s.tool[found]
        s.known.add(found)
        sig = ", ".join(alias.get(p.rstrip("?"), p.rstrip("?")) + ("?" if p.endswith("?") else "") for p in params)
        s.raw("shed", {"description": want, "limit": 1}, f"These tools can be called now:\n<tools>\ndef {name}({sig}): {desc}\n</tools>")

    def lack(s, tool):
        """a tool that is not there is looked up in vain, once"""
        if tool in s.lacks: return
        s.lacks.add(tool)
        want, other = s.tool[tool][0], INSTEAD.get(tool)
        if other: s.look_up(want, other)
        else: s.raw("shed", {"description": want, "limit": 1}, "No tool matches. These are there; look one up by its name:" + "".join(f"\n- {k}: {s.tool[k][1]}" for k in ("read", "write", "edit", "list")))

    def call(s, tool, args, result):
        want, name, params, desc, alias = s.tool[tool]
        if tool not in s.has:
            s.lack(tool)
            raise NoTool
        if tool not in s.known: s.look_up(want, tool)
        refused = s.strict and tool in ("bash", "write", "edit", "memory") and s.r.random() < .08
        if refused:
            why = s.r.choice(["the user said no", "nothing may be changed in this session", "nobody could be asked", "it changes something or goes out to the network, and there is nobody to ask; answer without it", f"the user said: {s.other()} {s.other()}"])
            result = f'Error: The call of "{name}" is not permitted: {why}'
        s.raw(name, {alias.get(k, k): v for k, v in args.items()}, result)
        if refused: raise Denied
        return result

    def raw(s, name, args, result):
        s.t.append(("assistant", "<tool_call>\n" + dumps({"name": name, "arguments": args}) + "\n</tool_call>"))
        s.t.append(("tool", result))

    def search(s, query, path, ignore_case=False, limit=None, missing=False):
        if "search" not in s.has: return s.read_for(query, path, ignore_case, missing)
        args = {"query": query, "paths": [path]}
        if ignore_case: args["ignore_case"] = True
        if limit: args["limit"] = limit
        if missing:
            return s.call("search", args, f"Error: There is no file or folder {quote(path)} to search. List its parent folder with {s.tool['list'][1]}, or leave out {s.p('search', 'paths')}.")
        res = grep(s.files[path], ("(?i)" if ignore_case else "") + query, path)
        lines = res.split("\n")
        if limit and len(lines) - 3 > limit:
            more = len(lines) - 3 - limit
            res = "\n".join([f"{plural(limit, 'matching line')} in 1 file"] + lines[1:3 + limit]) + f"\n\n[{plural(more, 'more matching line')} in 1 file not shown. Narrow it with {s.p('search', 'paths')} or glob, or raise limit.]"
        return s.call("search", args, res)

    def read_for(s, query, path, ignore_case, missing):
        """in place of a search, where there is none: the whole file, once"""
        if path not in s.seen:
            s.lack("search")
            s.seen.add(path)
            L = s.files.get(path, []) + [""]
            s.call("read", {"path": path}, s.gone(path) if missing else "\n".join(f"{i + 1}→{l}" if i == 0 or (i + 1) % 10 == 0 else l for i, l in enumerate(L)))
        return NOTHING if missing else grep(s.files[path], ("(?i)" if ignore_case else "") + query, path)

    def search_all(s, query, hits):
        for f, lines in hits: s.place(f, lines)
        return s.call("search", {"query": query}, blocks(hits) if hits else NOTHING)

    def place(s, path, lines):
        """a file with these lines at these numbers"""
        at = dict(lines)
        s.disk[path] = [at.get(i + 1, "") for i in range(max(at))]

    def read(s, path, limit, missing=False):
        if missing: return s.call("read", {"path": path, "limit": limit}, s.gone(path))
        L = s.files[path] + [""]
        return s.call("read", {"path": path, "limit": limit}, f"1→{L[0]}\n\n[These are lines 1 to {limit} of {len(L)}. Go on with offset {limit + 1}.]")

    def gone(s, path):
        d = path.rsplit("/", 1)[0] if "/" in path else "."
        x = s.r.random()
        if x < .15: return f"Error: There is no file or folder {quote(path)}. Did you mean {quote(('' if d == '.' else d + '/') + s.r.choice(['note.txt', 'data.csv', 'main.md']))}?"
        if d != "." and x < .7:
            return f"Error: There is no file or folder {quote(path)}: the folder {quote(d.split('/')[0])} does not exist. List the folder \".\" to see what is there."
        return f"Error: There is no file or folder {quote(path)}. List the folder {quote(d)} to see what is there."

    def bash(s, command, description, output, exit):
        return s.call("bash", {"command": command, "description": description}, f"exit: {exit}\n{output}")

    def list(s, d, fs, gone):
        args = {"depth": 1} if d == "." else {"path": d, "depth": 1}
        if gone: return s.call("list", args, s.gone(d))
        r = s.r
        folders = sorted({x.split(".")[0].lower() for x in r.sample(fs, min(len(fs), r.choice([0, 0, 0, 1, 2])))} - {""}) if fs else []
        # the tree has folders among the files
        fs[:] = sorted(set(fs) | {x + "/" for x in folders}, key=lambda x: x.rstrip("/").lower())
        at = "" if d == "." else d + "/"
        for f in fs: s.disk[at + f + ("x" if f.endswith("/") else "")] = ["x"]
        if not fs and d != ".": s.disk[at] = []
        text = "\n".join([d + "/"] + ["  " + f for f in fs])
        notes = [] if fs else ["The folder is empty."]
        if fs and r.random() < .25:
            n = r.choice([1, 1, 2, 3])
            for i in range(n): s.disk[f"{at}.x{i}"] = ["x"]
            notes.append(("1 name that begins" if n == 1 else f"{n} names that begin") + " with a dot not shown; set hidden to true to see.")
        return s.call("list", args, text + ("\n\n[" + " ".join(notes) + "]" if notes else ""))

    def remember(s, fact):
        n = len(s.facts) + 1
        s.call("memory", {"command": "add", "fact": fact}, "Remembered. " + ("1 fact is" if n == 1 else f"{n} facts are") + " remembered.")
        s.facts.append(fact)
        s.user("Working memory:\n" + "\n".join("- " + f for f in s.facts))

    def write(s, path, content):
        return s.call("write", {"path": path, "content": content}, f"Created {quote(path)} ({plural(len(content.encode()), 'byte')}).")

    def edit(s, path, old, new, outcome):
        args = {"path": path, "old_string": old, "new_string": new}
        if outcome == "gone": return s.call("edit", args, s.gone(path))
        if outcome == "missing":
            s.disk[path] = ["0"]
            return s.call("edit", args, f"Error: {s.p('edit', 'old_string')} does not stand in {quote(path)}. Nothing was changed. Read the file with {s.tool['read'][1]} and copy the text exactly, with its spaces and indentation.")
        s.place(path, [(outcome, old)])
        return s.call("edit", args, f"Edited {quote(path)}: 1 replacement, line {outcome}.")

    def last_key(s, question, path):
        """the key in a question about a file: what stands there that is neither the file's name nor a usual word"""
        rest = question.replace(path, " ")
        words = [w for w in re.findall(r"[\w@/:.-]*[\w]", rest)]
        usual = set("what is the in which does have tell me from read and look set to value of has please find get say about who are open need i how many allow true or false show can you s whats".split())
        keys = [w for w in words if w.lower() not in usual]
        return literal(keys[-1] if keys else words[-1])
