import { AgenticError } from "@shedkit/types";
import type { OnnxDtype } from "./options.js";

/** What the weights' file names say of them. */
export const SUFFIX: { readonly [dtype in OnnxDtype]: string } = {
  q4: "_q4",
  q8: "_quantized",
  int8: "_int8",
  uint8: "_uint8",
  q4f16: "_q4f16",
  bnb4: "_bnb4",
  fp16: "_fp16",
  fp32: "",
};

/** From the smallest that lose little to the largest. */
export const DTYPES = Object.keys(SUFFIX) as readonly OnnxDtype[];

export type ModelName =
  | { type: "folder"; path: string }
  | { type: "hub"; repo: string; revision?: string | undefined; dtype?: OnnxDtype | undefined };

const FORMS = "Name a folder (./model), or owner/repo, owner/repo:q4, owner/repo:revision.";
const PART = /^[\w](?:[\w.-]*[\w])?$/;

/** Reads a model's name. The last part behind a colon is the weights' kind if it is a known one, else a revision. */
export function parseModelName(name: string): ModelName {
  const text = name.trim();
  if (/^(\.{0,2}[\\/]|~[\\/]|[A-Za-z]:[\\/]|\.{1,2}$)/.test(text)) return { type: "folder", path: text };
  const [path = "", ...marks] = text.replace(/^hf:/, "").split(":");
  const parts = path.split("/");
  if (parts.length !== 2 || !parts.every((part) => PART.test(part) && !part.includes(".."))) {
    throw new AgenticError("provider", `"${name}" is no model's name. ${FORMS}`, { problem: "badReference" });
  }
  const last = marks.at(-1);
  const dtype = DTYPES.find((one) => one === last?.toLowerCase());
  const [revision, ...more] = dtype === undefined ? marks : marks.slice(0, -1);
  if (more.length > 0 || (revision !== undefined && !/^[\w][\w./-]*$/.test(revision))) {
    throw new AgenticError(
      "provider",
      `"${name}" has a part after ":" that is neither weights nor a revision. ${FORMS}`,
      {
        problem: "badReference",
      },
    );
  }
  return { type: "hub", repo: path, revision, dtype };
}
