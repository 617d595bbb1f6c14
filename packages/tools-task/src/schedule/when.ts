import { Cron } from "croner";

/** When something is due: by a cron expression of five fields, every so often, or once. */
export type When =
  | { type: "cron"; cron: string; timezone?: string | undefined }
  | { type: "every"; ms: number }
  | { type: "at"; at: number };

/** A time that cannot be. The message is for a model. */
export class BadTime extends Error {}

const UNITS: { readonly [unit: string]: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const LEAST_MS = 60_000;
const LAST = 8.64e15; // the last time there is
const MOST_MS = 366 * 86_400_000;

/** Reads what a model wrote at the time `now`. Throws BadTime. */
export function whenOf(
  given: { cron?: string | undefined; every?: string | undefined; at?: string | undefined },
  timezone: string | undefined,
  names: (canonical: string) => string,
  now: number,
): When {
  const { cron, every, at } = given;
  const count = [cron, every, at].filter((one) => one !== undefined && one.trim() !== "").length;
  if (count !== 1) {
    throw new BadTime(`Give one of ${names("cron")}, ${names("every")} and ${names("at")}; ${count} were given.`);
  }
  if (cron !== undefined && cron.trim() !== "")
    return { type: "cron", cron: cron.trim(), ...(timezone && { timezone }) };
  if (every !== undefined && every.trim() !== "") return { type: "every", ms: periodOf(every.trim()) };
  return { type: "at", at: timeOf((at ?? "").trim(), timezone, now) };
}

/** The first time after `now`; undefined where there is none. Throws BadTime for an expression that is none. */
export function nextTime(when: When, now: number, last = now): number | undefined {
  switch (when.type) {
    case "at":
      return when.at > now && when.at <= LAST ? when.at : undefined;
    case "every":
      if (!(when.ms >= 1000)) throw new BadTime(`Every ${when.ms} ms is too often: once a second is the most.`);
      return last + when.ms * Math.max(1, Math.ceil((now - last + 1) / when.ms));
    case "cron": {
      const { timezone } = when;
      checkZone(timezone);
      try {
        const cron = new Cron(when.cron, { mode: "5-part", paused: true, ...(timezone !== undefined && { timezone }) });
        return cron.nextRun(new Date(now))?.getTime();
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        throw new BadTime(
          `"${when.cron}" is no cron expression of five fields, such as "30 9 * * 1-5" (half past nine on workdays): ${why}`,
        );
      }
    }
  }
}

/** For people and models. */
export function inWords(when: When): string {
  switch (when.type) {
    case "cron":
      return `cron ${when.cron}${when.timezone === undefined ? "" : ` (${when.timezone})`}`;
    case "every": {
      const [unit = "s", ms = 1000] = Object.entries(UNITS).findLast(([, size]) => when.ms % size === 0) ?? [];
      return `every ${when.ms / ms}${unit}`;
    }
    case "at":
      return "once";
  }
}

function periodOf(text: string): number {
  const [, count = "", unit = ""] = /^(\d{1,6})\s*([smhd])$/i.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit.toLowerCase()] ?? Number.NaN);
  if (Number.isNaN(ms)) throw new BadTime(`"${text}" is no period. Write it as 90s, 15m, 2h or 1d.`);
  if (ms < LEAST_MS) throw new BadTime(`${text} is too often: once a minute is the most (60s).`);
  if (ms > MOST_MS) throw new BadTime(`${text} is too long: a year is the most (366d).`);
  return ms;
}

const ISO = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?$/;

function timeOf(text: string, timezone: string | undefined, now: number): number {
  const [found, zone] = ISO.exec(text) ?? [];
  const wrong = () => {
    // Over everywhere on earth.
    const isPast = /^\d{4}-\d{2}-\d{2}$/.test(text) && isDay(text) && Date.parse(`${text}T23:59:59-12:00`) < now;
    const what = isPast ? `in the past: it is ${new Date(now).toISOString()} now` : "no time";
    return new BadTime(`"${text}" is ${what}. Write it as 2031-05-17T09:30:00, or with a zone, as ...+02:00 or ...Z.`);
  };
  if (found === undefined || !isDay(found.slice(0, 10))) throw wrong();
  if (zone !== undefined) {
    const time = Date.parse(found);
    if (Number.isNaN(time)) throw wrong();
    return time;
  }
  checkZone(timezone);
  try {
    const seconds = /T\d{2}:\d{2}$/.test(found) ? `${found}:00` : found.replace(/\.\d+$/, "");
    const time = new Cron(seconds, { paused: true, allowPast: true, ...(timezone !== undefined && { timezone }) });
    return time.nextRun(new Date(0))?.getTime() ?? Number.NaN;
  } catch {
    throw wrong();
  }
}

function checkZone(timezone: string | undefined): void {
  if (timezone === undefined) return;
  try {
    new Intl.DateTimeFormat("en", { timeZone: timezone });
  } catch {
    throw new BadTime(`"${timezone}" is no time zone. Write it as Europe/Berlin or UTC.`);
  }
}

/** False for the 30th of February too, which would be taken for a day in March. */
function isDay(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(date);
}
