type Known = (args: readonly string[]) => readonly string[] | undefined;

/** Commands of which no option does more than read, so that files may be named like one. */
const HARMLESS = new Set("cat head tail wc ls grep egrep fgrep cut".split(" "));

/**
 * Whether all that the shell may make of the patterns among a command's arguments are files for it to read, each below the
 * part of its pattern that is fixed, unless a link leads elsewhere.
 */
export function areOnlyFiles(name: string, args: readonly string[], known: Known, isOpen: (arg: string) => boolean) {
  const marks: string[] = [];
  const marked: string[] = [];
  for (const [at, arg] of args.entries()) {
    // Whatever `--include=*.ts` fits is that option too.
    if (!isOpen(arg) || /^--[a-z-]+=[^/]*$/.test(arg)) {
      marked.push(arg);
      continue;
    }
    if (!arg.split("/").every(isWithin)) return false;
    // It may become several words, of which none must be taken for an option or for anything but a file.
    const mayBeOption = arg.startsWith("-") || (/^[*?[]/.test(arg) && !HARMLESS.has(name));
    const words = ["a", "b"].map((which) => `${mayBeOption ? "-" : ""}\0${at}${which}`);
    marks.push(...words);
    marked.push(...words);
  }
  const reads = marks.length === 0 ? [] : known(marked);
  return marks.every((mark) => reads?.some((path) => path.startsWith(mark)));
}

/** Whether a part of a path is no `..`, and can become none: in older shells `.*` does. */
function isWithin(part: string): boolean {
  return part !== ".." && !/^\.{1,2}[*?[]/.test(part) && !/^\[(?!\w[\w-]*\])/.test(part);
}
