import type { ParamFault } from "@shedkit/tool";

/** Which sites may be read. */
export interface DomainRules {
  allowedDomains?: readonly string[] | undefined;
  deniedDomains?: readonly string[] | undefined;
}

interface Rule {
  host: string;
  /** Of its folder, without the last slash; empty for all of the host. */
  path: string;
}

/** Why an address may not be read; undefined where it may. */
export function refusalOf(url: URL, { allowedDomains, deniedDomains = [] }: DomainRules): string | undefined {
  const paths = readingsOf(url.pathname);
  const shown = `${url.host}${url.pathname}`;
  const denied = deniedDomains.find((entry) => isUnder(url, ruleOf(entry), (test) => paths.some(test)));
  if (denied !== undefined) return `${shown} must not be read here: ${denied} is denied.`;
  if (!allowedDomains || allowedDomains.some((entry) => isUnder(url, ruleOf(entry), (test) => paths.every(test)))) {
    return undefined;
  }
  const named = allowedDomains.slice(0, MOST_NAMED).join(", ");
  const more = allowedDomains.length > MOST_NAMED ? " and others" : "";
  return `${shown} is not among the sites that may be read here: ${named === "" ? "there are none" : `${named}${more}`}.`;
}

/** Entries that name no site. */
export function faultsOf(rules: DomainRules): ParamFault[] {
  return (["allowedDomains", "deniedDomains"] as const).flatMap((field) =>
    (rules[field] ?? []).flatMap((entry, i) =>
      ruleOf(entry)
        ? []
        : [{ field: `${field}[${i}]`, message: `wanted a host or a path below it, e.g. "nodejs.org/api"` }],
    ),
  );
}

const MOST_NAMED = 20;

/** Undefined for what names no site. */
function ruleOf(entry: string): Rule | undefined {
  const text = `https://${entry.trim().replace(/^(?:https?:\/\/|\*\.)/i, "")}`;
  if (!URL.canParse(text)) return undefined;
  const { hostname, pathname, username, port, search, hash } = new URL(text);
  if (`${username}${port}${search}${hash}` !== "") return undefined;
  return { host: bare(hostname), path: pathname.replace(/\/+$/, "") };
}

/** The host itself, with and without `www.`, and what is below it; under the path, where the rule has one. */
function isUnder(
  { hostname }: URL,
  rule: Rule | undefined,
  paths: (test: (path: string) => boolean) => boolean,
): boolean {
  if (!rule) return false;
  const host = bare(hostname);
  if (host !== rule.host && !host.endsWith(`.${rule.host}`)) return false;
  return rule.path === "" || paths((path) => path === rule.path || path.startsWith(`${rule.path}/`));
}

function bare(host: string): string {
  return host.replace(/\.$/, "").replace(/^www\./, "");
}

/** A path as it is, and as servers may read it: with what is escaped in it, without empty parts. */
function readingsOf(path: string): string[] {
  const readings = [path];
  for (let i = 0; i < MOST_ESCAPED; i++) {
    const last = readings.at(-1) as string;
    const next = new URL(unescaped(last).replace(/[\\/]+/g, "/"), "https://x/").pathname;
    if (next === last) return readings;
    readings.push(next);
  }
  return [...readings, ""]; // escaped on and on: under no path that is allowed
}

const MOST_ESCAPED = 5;

function unescaped(path: string): string {
  return path.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes).replace(/[?#]/g, encodeURIComponent);
    } catch {
      return escapes;
    }
  });
}
