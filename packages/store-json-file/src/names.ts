import { createHash } from "node:crypto";

/** File names of any system stay below 255 bytes. */
const LONGEST = 180;

/**
 * A key as a file name: small letters, digits, `_` and `-` as they are, all else as `%` and two digits a byte, so that
 * no system takes two keys for one or reads a path into a name. A long key is cut and gets its hash.
 */
export function fileName(key: string): string {
  const name = key.replace(/[^a-z0-9_-]/gu, (character) =>
    Array.from(new TextEncoder().encode(character), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  );
  if (name === "") return "%";
  if (name.length <= LONGEST) return name;
  return `${name.slice(0, 80)}~${createHash("sha256").update(key).digest("hex")}`;
}
