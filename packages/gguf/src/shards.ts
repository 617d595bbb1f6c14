const SHARD = /-(\d{5})-of-(\d{5})\.gguf$/i;

/** Which part of a split model a file is: `index` and `count` from its name `...-00001-of-00003.gguf`, `index` from 1. */
export function shardOf(path: string): { stem: string; index: number; count: number } | undefined {
  const match = SHARD.exec(path);
  if (!match) return undefined;
  return { stem: path.slice(0, match.index), index: Number(match[1]), count: Number(match[2]) };
}

/** The names of all parts of the model that the file belongs to, in order; the file alone where it is not split. */
export function shardNames(path: string): string[] {
  const shard = shardOf(path);
  if (!shard) return [path];
  const suffix = path.slice(-".gguf".length); // kept as it is written
  const number = (n: number) => String(n).padStart(5, "0");
  return Array.from(
    { length: shard.count },
    (_, i) => `${shard.stem}-${number(i + 1)}-of-${number(shard.count)}${suffix}`,
  );
}
