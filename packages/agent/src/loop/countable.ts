import type { Usage } from "@shedkit/types";

/** A backend that reports no number must not make sums, triggers and budgets none. */
export function countable(usage: Usage): Usage {
  const { input, output, cacheRead, cacheWrite, reasoning, total, costUsd } = usage;
  for (const part of [input, output, cacheRead, cacheWrite, reasoning, total]) if (!isCount(part)) return mended(usage);
  return costUsd === undefined || isCount(costUsd) ? usage : mended(usage);
}

function mended({ costUsd, total, ...parts }: Usage): Usage {
  const count = (part: number) => (isCount(part) ? part : 0);
  const input = count(parts.input);
  const output = count(parts.output);
  const cacheRead = count(parts.cacheRead);
  const cacheWrite = count(parts.cacheWrite);
  return {
    ...{ input, output, cacheRead, cacheWrite, reasoning: count(parts.reasoning) },
    total: isCount(total) ? total : input + output + cacheRead + cacheWrite,
    ...(isCount(costUsd) && { costUsd }),
  };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value < Number.POSITIVE_INFINITY;
}
