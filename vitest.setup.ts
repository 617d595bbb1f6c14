import { configureGlobal } from "fast-check";

// Properties are tried on the same values every time, so that a change is judged by itself. FC_SEED=random looks
// further, FC_SEED=<number> repeats what it found.
const seed = process.env.FC_SEED ?? "20260101";
configureGlobal(seed === "random" ? {} : { seed: Number(seed) });
