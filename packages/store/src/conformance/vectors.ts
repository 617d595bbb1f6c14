import type { SessionId } from "@shedkit/types";
import type { DocumentStore, VectorStore } from "../contract.js";
import type { StoreCase } from "./case.js";
import { holds, same } from "./check.js";
import { put, userRecord } from "./records.js";

const id = (name: string): SessionId => name as SessionId;
const vector = (...values: number[]): Float32Array => Float32Array.from(values);

function vectorsOf(store: DocumentStore): VectorStore {
  if (store.vectors === undefined) throw new Error("the store has no vectors");
  return store.vectors;
}

const seqs = (hits: readonly { seq: number }[]): number[] => hits.map(({ seq }) => seq);

/** What a {@link DocumentStore} with `vectors` must do besides. Each case opens a new, empty store. */
export const vectorStoreCases: readonly StoreCase<DocumentStore>[] = [
  {
    name: "a session without vectors has nothing that is near",
    async run(store) {
      const vectors = vectorsOf(store);
      same(await vectors.last(id("none"), "m"), 0, "last");
      same(await vectors.nearest(id("none"), "m", vector(1, 0), 5), [], "nearest");
      await vectors.put(id("none"), "m", [{ seq: 1, vector: vector(1, 0) }]);
      await vectors.put(id("none"), "m", []);
      same(await vectors.last(id("none"), "m"), 0, "last, after a vector of a record that is not there");
    },
  },
  {
    name: "the nearest come first, by their direction, whatever their length",
    async run(store) {
      const vectors = vectorsOf(store);
      await put(store, id("s"), [userRecord("a"), userRecord("b"), userRecord("c")]);
      await vectors.put(id("s"), "m", [
        { seq: 1, vector: vector(0, 5, 0) },
        { seq: 2, vector: vector(0.1, 0.1, 0) },
        { seq: 3, vector: vector(-2, 0, 0) },
      ]);
      const hits = await vectors.nearest(id("s"), "m", vector(3, 0, 0), 10);
      same(seqs(hits), [2, 1, 3], "order");
      for (const [i, cosine] of [Math.SQRT1_2, 0, -1].entries()) {
        holds(Math.abs((hits[i]?.score ?? 9) - cosine) < 1e-5, `score ${i}: wanted ${cosine}, got ${hits[i]?.score}`);
      }
      same(seqs(await vectors.nearest(id("s"), "m", vector(3, 0, 0), 1)), [2], "with a limit");
      same(await vectors.last(id("s"), "m"), 3, "last");
    },
  },
  {
    name: "sessions, models and lengths do not mix, and a vector takes the place of the one before",
    async run(store) {
      const vectors = vectorsOf(store);
      await put(store, id("s"), [userRecord("a"), userRecord("b")]);
      await put(store, id("t"), [userRecord("c")]);
      await vectors.put(id("s"), "m", [{ seq: 1, vector: vector(1, 0) }]);
      await vectors.put(id("s"), "n", [{ seq: 2, vector: vector(1, 0) }]);
      await vectors.put(id("t"), "m", [{ seq: 1, vector: vector(0, 1) }]);
      same(await vectors.last(id("s"), "m"), 1, "last");
      same(seqs(await vectors.nearest(id("s"), "n", vector(1, 0), 5)), [2], "nearest of another model");
      same(await vectors.nearest(id("s"), "m", vector(1, 0, 0), 5), [], "nearest of another length");
      await vectors.put(id("s"), "m", [{ seq: 1, vector: vector(0, 1) }]);
      const [hit] = await vectors.nearest(id("s"), "m", vector(1, 0), 5);
      holds(Math.abs(hit?.score ?? 9) < 1e-5, `score after the change: ${hit?.score}`);
    },
  },
  {
    name: "vectors are gone with their session, and a new one of that id has none",
    async run(store) {
      const vectors = vectorsOf(store);
      await put(store, id("s"), [userRecord("a")]);
      await vectors.put(id("s"), "m", [{ seq: 1, vector: vector(1, 0) }]);
      await store.delete(id("s"));
      await put(store, id("s"), [userRecord("b")]);
      same(await vectors.last(id("s"), "m"), 0, "last");
      same(await vectors.nearest(id("s"), "m", vector(1, 0), 5), [], "nearest");
    },
  },
];
