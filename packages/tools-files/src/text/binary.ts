import { byteOrderMark } from "./encoding.js";

/** How much of a file is looked at to tell text from other content, in bytes. */
const SAMPLE_BYTES = 8192;

const MAX_CONTROL_SHARE = 0.3;

/** What is never text, whatever its bytes. */
const EXTENSIONS = new Set(
  (
    "7z a avi bin bmp br bz2 class dll dmg doc docx dylib eot exe flac gguf gif gz heic ico iso jar jpeg jpg lz4 mkv mov " +
    "mp3 mp4 o odp ods odt ogg onnx otf parquet pdf png ppt pptx psd pyc rar rlib safetensors so sqlite tar tgz tif tiff " +
    "ttf wasm wav webm webp woff woff2 xls xlsx xz zip zst"
  ).split(" "),
);

/** True for a name that says the file is no text. */
export function hasBinaryName(path: string): boolean {
  const dot = path.lastIndexOf(".");
  return dot > path.lastIndexOf("/") && EXTENSIONS.has(path.slice(dot + 1).toLowerCase());
}

/** True where the first bytes of a file are no text: a NUL, or more than 30 % control characters. */
export function isBinary(sample: Uint8Array): boolean {
  const mark = byteOrderMark(sample);
  if (mark?.encoding === "utf-16le" || mark?.encoding === "utf-16be") return false;
  const length = Math.min(sample.length, SAMPLE_BYTES);
  let controls = 0;
  for (let i = 0; i < length; i++) {
    const byte = sample[i] ?? 0;
    if (byte === 0) return true;
    if ((byte < 0x20 && !isTextControl(byte)) || byte === 0x7f) controls++;
  }
  return controls > length * MAX_CONTROL_SHARE;
}

/** Backspace, tab, line feed, form feed, carriage return, escape: they stand in texts and logs. */
function isTextControl(byte: number): boolean {
  return (byte >= 8 && byte <= 13 && byte !== 11) || byte === 27;
}
