/** The first bytes of every GGUF file. */
export const MAGIC = "GGUF";

/** What bytes that should begin a GGUF file are instead; undefined where they do begin one. */
export function whatItIs(start: Uint8Array): string | undefined {
  const text = new TextDecoder("latin1").decode(start);
  if (text.startsWith(MAGIC)) return undefined;
  if (start.length === 0) return "it is empty";
  if (/^\s*<(!doctype|html|\?xml|head)/i.test(text)) return "it is a web page, saved in place of the model";
  if (text.startsWith("version https://git-lfs"))
    return "it is a Git LFS pointer; fetch the file itself (git lfs pull)";
  if (/^(ggjt|ggla|ggmf|lmgg|tjgg|fmgg)/.test(text)) return "it is in the format before GGUF; get the model as GGUF";
  if (text.startsWith("PK")) return "it is a zip archive (PyTorch weights?); get the model as GGUF";
  if (start[8] === 0x7b && start.subarray(4, 8).every((byte) => byte === 0)) {
    return "it looks like safetensors; get the model as GGUF";
  }
  return `it does not begin with "${MAGIC}"`;
}
