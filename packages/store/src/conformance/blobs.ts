import type { BlobStore } from "../contract.js";
import type { StoreCase } from "./case.js";
import { holds, same } from "./check.js";

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);
const listOf = (data: Uint8Array | undefined): number[] | undefined => data && [...data];

/** What every {@link BlobStore} must do. Each case opens a new, empty store. */
export const blobStoreCases: readonly StoreCase<BlobStore>[] = [
  {
    name: "a blob that was never put is absent",
    async run(store) {
      same(await store.get("a/b"), undefined, "get");
      same(await store.delete("a/b"), false, "delete");
    },
  },
  {
    name: "bytes come back as they were, the last that were put",
    async run(store) {
      await store.put("k", bytes(1, 2, 3));
      await store.put("k", bytes(0, 255, 13, 10, 128));
      same(listOf(await store.get("k")), [0, 255, 13, 10, 128], "get");
      await store.put("empty", bytes());
      same(listOf(await store.get("empty")), [], "an empty blob");
      await store.put("part", bytes(1, 2, 3, 4).subarray(1, 3));
      same(listOf(await store.get("part")), [2, 3], "part of a buffer");
    },
  },
  {
    name: "odd keys are keys of their own",
    async run(store) {
      const keys = ["a", "A", "a/b", "a b", "a+b", "a%2Fb", "a?b#c", "\u00e9\u{1f600}", "'\"()*!~"];
      for (const [i, key] of keys.entries()) await store.put(key, bytes(i));
      for (const [i, key] of keys.entries()) same(listOf(await store.get(key)), [i], `blob "${key}"`);
      for (const key of keys) same(await store.delete(key), true, `delete of "${key}"`);
      for (const key of keys) same(await store.get(key), undefined, `blob "${key}" after its deletion`);
    },
  },
  {
    name: "a large blob survives",
    async run(store) {
      const data = Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 31) & 255);
      await store.put("large", data);
      const got = await store.get("large");
      holds(got?.length === data.length && got.every((byte, i) => byte === data[i]), "3 MB came back changed");
    },
  },
];
