/** Tests of `find` that need nothing more. */
const ALONE = new Set(
  (
    "! ( ) , -not -a -and -o -or -true -false -print -print0 -ls -prune -quit -depth -d -mount -xdev -daystart -noleaf -empty " +
    "-readable -writable -executable -nouser -nogroup"
  ).split(" "),
);
/** Those with a value. */
const WITH_VALUE = new Set(
  (
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -maxdepth -mindepth -size -perm -links -inum " +
    "-lname -ilname -fstype -user -group -uid -gid -mtime -mmin -atime -amin -ctime -cmin -newermt -newerat -newerct -printf"
  ).split(" "),
);
/** Those with a file. */
const WITH_FILE = new Set("-newer -anewer -cnewer -samefile".split(" "));

/** What `find` reads: all that is in the folders that it begins in; undefined where it may do more, or follow links. */
export function findReads(args: readonly string[]): readonly string[] | undefined {
  const begin = args.findIndex((arg) => /^(?:-|[!(),]$)/.test(arg));
  const places = begin < 0 ? args : args.slice(0, begin);
  const files: string[] = [];
  for (let at = begin < 0 ? args.length : begin; at < args.length; at++) {
    const test = args[at] ?? "";
    if (ALONE.has(test)) continue;
    const value = args[++at];
    if (value === undefined || !(WITH_VALUE.has(test) || WITH_FILE.has(test))) return undefined;
    if (WITH_FILE.has(test)) files.push(value);
  }
  const folders = places.length === 0 ? ["."] : places;
  return [...folders.map((folder) => `${folder.replace(/(?<=.)\/+$/, "")}/**`), ...files];
}
