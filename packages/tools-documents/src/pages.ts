import type { FormatRequest } from "@shedkit/tools-files";
import { Failure } from "./failure.js";

/** How many pages one call reads, and how many it reads unasked. */
const MOST = 20;
const MOST_UNASKED = 10;
const MAX_RANGES = 100;

/** The pages that are asked for, from 1, in order, each once. `noun`: what they are, e.g. `page`. Throws Failure. */
export function pagesOf({ pages, param }: FormatRequest, total: number, noun: string): number[] {
  const name = param("pages");
  const all = `It has ${total} ${noun}${total === 1 ? "" : "s"}`;
  const wanted = pages?.trim() ?? "";
  if (wanted === "") {
    if (total <= MOST_UNASKED) return [...range(1, total)];
    throw new Failure(
      "too many pages",
      `${all}: name those you want with ${name}, e.g. 1-${MOST_UNASKED}; ${MOST} are the most of one call.`,
    );
  }
  const parts = wanted.split(",");
  const chosen = new Set<number>();
  for (const part of parts.slice(0, MAX_RANGES)) {
    const found = /^\s*(\d{1,9})?\s*(?:(-)\s*(\d{1,9})?)?\s*$/.exec(part);
    const [, from, to] = [found?.[0], found?.[1], found?.[2] === undefined ? found?.[1] : found[3]];
    const first = Number(from ?? 1);
    const last = Number(to ?? total);
    if (!found || found[0].trim() === "" || found[0].trim() === "-" || first < 1 || last < first) {
      throw new Failure("no pages", `${name} is "${part.trim()}"; wanted are numbers and ranges, e.g. 1-5,8 or 10-.`);
    }
    if (first > total) throw new Failure("past the end", `${all}; ${name} ${part.trim()} is past its end.`);
    for (const page of range(first, Math.min(last, total))) {
      chosen.add(page);
      if (chosen.size > MOST) {
        throw new Failure(
          "too many pages",
          `${name} ${wanted} is more than ${MOST} ${noun}s, the most of one call. ${all}; ask for fewer.`,
        );
      }
    }
  }
  if (parts.length > MAX_RANGES) throw new Failure("no pages", `${name} has more than ${MAX_RANGES} parts.`);
  return [...chosen].sort((a, b) => a - b);
}

function* range(first: number, last: number): Generator<number> {
  for (let page = first; page <= last; page++) yield page;
}
