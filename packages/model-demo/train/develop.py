"""Cases like those the model is trained on, to look at while tuning: python3 develop.py [N a skill] > dev.json, then
CASES=dev.json pnpm evaluate. What decides is eval/cases.ts, which is not looked at meanwhile."""
import json, random, sys

import data


def case(skill, i):
    e = data.episode(random.Random(f"develop {skill.__name__} {i}"), 1, skill, False, False)
    if not e.t: return []
    asked = [t for role, t in e.t if role == "user" and not t.startswith("Working memory:")]
    files = {f: "".join(l + "\n" for l in lines) for f, lines in {**e.files, **e.disk}.items() if not f.endswith("/")}
    return [{"skill": skill.__name__[3:], "files": files, "before": asked[:-1], "ask": asked[-1], "exactly": e.t[-1][1]}]


n = int(sys.argv[1]) if len(sys.argv) > 1 else 6
json.dump([c for s, w in data.SKILLS for i in range(n * 3 if w > 20 else n) for c in case(s, i)], sys.stdout, ensure_ascii=False)
