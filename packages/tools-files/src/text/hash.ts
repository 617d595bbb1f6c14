/** A fingerprint of bytes (64 bits, not cryptographic): tells that a file is not what it was. */
export class Fingerprint {
  #a = 0x9e3779b1;
  #b = 0x85ebca77;
  #length = 0;

  add(bytes: Uint8Array): this {
    let a = this.#a;
    let b = this.#b;
    for (let i = 0; i < bytes.length; i++) {
      const byte = bytes[i] ?? 0;
      a = Math.imul(a ^ byte, 0x01000193);
      b = Math.imul(b + byte, 0x5bd1e995) ^ (b >>> 15);
    }
    this.#a = a;
    this.#b = b;
    this.#length += bytes.length;
    return this;
  }

  toString(): string {
    return `${(this.#a >>> 0).toString(36)}-${(this.#b >>> 0).toString(36)}-${this.#length}`;
  }
}

/** Content beyond this size is told apart by the file's version alone, in bytes. */
export const MAX_FINGERPRINTED = 16 * 1024 * 1024;

/** The fingerprint of a whole content; undefined for a large one. */
export function fingerprint(bytes: Uint8Array): string | undefined {
  return bytes.length > MAX_FINGERPRINTED ? undefined : new Fingerprint().add(bytes).toString();
}
