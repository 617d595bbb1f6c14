"""Writes conversations for test/wire.test.ts, which plays them to the real agent: python3 samples.py > ../test/wire.jsonl"""
import json, random, sys

import data


def sample(skill, seed, renamed, few):
    e = data.episode(random.Random(f"wire {skill.__name__} {seed}"), 1, skill, renamed, few)
    tools = [{"id": name, "nameOverride": t[1], "paramsNameOverrides": t[4]} for (_, name, _, _), t in zip(data.T.TOOLS.values(), e.tool.values())]
    text, _ = data.render(e)
    return {"skill": skill.__name__[3:], "renamed": tools if renamed else None, "few": few, "system": e.system, "files": {**e.files, **e.disk}, "turns": e.t, "text": text}


def main():
    out = []
    for skill, _ in data.SKILLS:
        seed = n = 0
        while n < (8 if skill is data.sk_value else 4):
            seed += 1
            x = sample(skill, seed, seed % 2 == 0, seed % 5 == 3)
            # the sessions of the test offer nothing in the background
            if len(json.dumps(x)) < 6000 and "is_background" not in x["text"] and x["turns"]: out.append(x); n += 1
    for x in out: print(json.dumps(x, ensure_ascii=False))


main()
