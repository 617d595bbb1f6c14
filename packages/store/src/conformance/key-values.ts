import type { JsonValue } from "@shedkit/types";
import type { KeyValueStore } from "../contract.js";
import type { StoreCase } from "./case.js";
import { all, holds, refuses, same } from "./check.js";

/** What every {@link KeyValueStore} must do. Each case opens a new, empty store. */
export const keyValueStoreCases: readonly StoreCase<KeyValueStore>[] = [
  {
    name: "a key that was never set is absent",
    async run(store) {
      same(await store.get("k"), undefined, "get");
      same(await store.delete("k"), false, "delete");
      same(await all(store.keys()), [], "keys");
    },
  },
  {
    name: "every kind of JSON value comes back",
    async run(store) {
      const values: JsonValue[] = [null, false, 0, -1.5, "", "\u{1f600}\u0000'", [], {}, { a: [1, { b: null }] }];
      for (const [i, value] of values.entries()) await store.set(`k${i}`, value);
      for (const [i, value] of values.entries()) same(await store.get(`k${i}`), value, `value ${i}`);
    },
  },
  {
    name: "a value changed after it was set, or got, does not change the store",
    async run(store) {
      const value = { list: ["one"] };
      await store.set("k", value);
      value.list.push("two");
      const got = (await store.get("k")) as { list: string[] };
      same(got, { list: ["one"] }, "get");
      got.list.push("three");
      same(await store.get("k"), { list: ["one"] }, "get again");
    },
  },
  {
    name: "a version grows with every set, and guards a set that names an old one",
    async run(store) {
      const first = await store.set("k", 1, { ifVersion: 0 });
      await refuses(store.set("k", 2, { ifVersion: 0 }), "store", "set of a key that should be absent");
      const second = await store.set("k", 2, { ifVersion: first });
      holds(second > first, "the version does not grow");
      await refuses(store.set("k", 3, { ifVersion: first }), "store", "set with an old version");
      same(await store.get("k"), 2, "value");
      await store.delete("k");
      await refuses(store.set("k", 3, { ifVersion: second }), "store", "set of a deleted key by its version");
      await store.set("k", 4, { ifVersion: 0 });
    },
  },
  {
    name: "of two sets that name one version, one wins",
    async run(store) {
      const version = await store.set("k", 0);
      const outcomes = await Promise.allSettled([1, 2].map((value) => store.set("k", value, { ifVersion: version })));
      same(outcomes.filter((outcome) => outcome.status === "fulfilled").length, 1, "sets that went through");
    },
  },
  {
    name: "keys come in order, by prefix, and no character of a prefix stands for another",
    async run(store) {
      for (const key of ["b", "a%x", "a_y", "aby", "a"]) await store.set(key, true);
      same(await all(store.keys()), ["a", "a%x", "a_y", "aby", "b"], "all keys");
      same(await all(store.keys("a_")), ["a_y"], "prefix a_");
      same(await all(store.keys("a%")), ["a%x"], "prefix a%");
    },
  },
  {
    name: "odd keys are keys of their own, in the order of their code points",
    async run(store) {
      const odd = [
        "",
        " ",
        "/",
        "__proto__",
        "a",
        "A",
        "a\tb",
        "e\u0301",
        "\u00e9",
        "\ufffd",
        "\u{1f600}",
        "k".repeat(900),
      ];
      for (const [i, key] of odd.entries()) await store.set(key, i);
      for (const [i, key] of odd.entries()) same(await store.get(key), i, `value of ${JSON.stringify(key)}`);
      const points = (key: string): number[] => Array.from(key, (character) => character.codePointAt(0) ?? 0);
      const byPoints = (a: string, b: string): number => {
        const [x, y] = [points(a), points(b)];
        const at = x.findIndex((point, i) => point !== y[i]);
        return at < 0 ? x.length - y.length : (x[at] ?? 0) - (y[at] ?? -1);
      };
      same(await all(store.keys()), [...odd].sort(byPoints), "keys");
      same(await all(store.keys("\u{1f600}")), ["\u{1f600}"], "keys by a prefix above U+FFFF");
    },
  },
  {
    name: "a key that not every storage can hold is refused",
    async run(store) {
      for (const key of ["a\u0000b", "\ud800"]) {
        await refuses(store.set(key, 1), "store", `set of ${JSON.stringify(key)}`);
        await refuses(store.get(key), "store", `get of ${JSON.stringify(key)}`);
      }
    },
  },
  {
    name: "a value that is no JSON is refused, and what was there stays",
    async run(store) {
      await store.set("k", "was there");
      const circle: { self?: unknown } = {};
      circle.self = circle;
      for (const value of [undefined, 10n, () => 1, Symbol("s"), circle, [10n]]) {
        await refuses(store.set("k", value as never), "store", `set to ${typeof value}`);
      }
      same(await store.get("k"), "was there", "value");
    },
  },
  {
    name: "a large value and many keys come back",
    async run(store) {
      const large = "0123456789abcdef".repeat(1 << 16);
      await store.set("large", { large });
      holds(((await store.get("large")) as { large: string }).large === large, "1 MiB of text came back changed");
      const many = Array.from({ length: 200 }, (_, i) => `many/${String(i).padStart(4, "0")}`);
      await Promise.all(many.map((key) => store.set(key, key)));
      same(await all(store.keys("many/")), many, "keys");
    },
  },
  {
    name: "a closed store refuses",
    async run(store) {
      await store.close();
      await refuses(store.get("k"), "store", "get");
      await store.close();
    },
  },
];
