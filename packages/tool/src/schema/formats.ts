type Format = (text: string) => boolean;

const matches =
  (pattern: RegExp): Format =>
  (text) =>
    pattern.test(text);

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;
const TIME = /^(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:z|([+-])(\d\d):(\d\d))$/i;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(?:\.(?!$)|$)){4}$/;
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i;
const ATOM = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
const QUOTED = /^"(?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\[\x20-\x7e])*"$/;
/** RFC 3986: scheme, authority with an address in brackets or none, path, query, fragment. */
const URI = /^(?:([a-z][a-z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/is;
const URI_TEXT = /^(?:[a-z0-9._~!$&'()*+,;=:@/?-]|%[0-9a-f]{2})*$/i;
const AUTHORITY =
  /^(?:(?:[a-z0-9._~!$&'()*+,;=:-]|%[0-9a-f]{2})*@)?(\[[^\]]*\]|(?:[a-z0-9._~!$&'()*+,;=-]|%[0-9a-f]{2})*)(?::\d*)?$/i;
const FUTURE_ADDRESS = /^v[0-9a-f]+\.[a-z0-9._~!$&'()*+,;=:-]+$/i;

/** RFC 6570: text, and expressions of an operator and names with modifiers. */
const NAME = "(?:\\w|%[0-9a-f]{2})+(?:\\.(?:\\w|%[0-9a-f]{2})+)*(?::[1-9]\\d{0,3}|\\*)?";
const TEMPLATE = new RegExp(
  `^(?:[^\\x00-\\x20\\x7f"<>%\\\\^\`{|}]|%[0-9a-f]{2}|\\{[+#./;?&=,!@|]?${NAME}(?:,${NAME})*\\})*$`,
  "i",
);
const CLOCK = "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)";
const DAYS = "\\d+Y(?:\\d+M(?:\\d+D)?)?|\\d+M(?:\\d+D)?|\\d+D";
const DURATION = new RegExp(`^P(?:\\d+W|(?:${DAYS})(?:${CLOCK})?|${CLOCK})$`);

/** Days of a month; the year decides about February. */
function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

function isDate(text: string): boolean {
  const [, year, month, day] = (DATE.exec(text) ?? []).map(Number);
  if (year === undefined || month === undefined || day === undefined) return false;
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month);
}

function isTime(text: string): boolean {
  const match = TIME.exec(text);
  if (match === null) return false;
  const [hour = 0, minute = 0, second = 0] = match.slice(1, 4).map(Number);
  const [offsetHour = 0, offsetMinute = 0] = match.slice(5, 7).map((part) => Number(part ?? 0));
  if (hour > 23 || minute > 59 || offsetHour > 23 || offsetMinute > 59) return false;
  if (second < 60) return true;
  // A leap second comes at the end of a day in UTC.
  const offset = (match[4] === "-" ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  return second === 60 && (hour * 60 + minute - offset + 1440) % 1440 === 1439;
}

function isDateTime(text: string): boolean {
  const at = text.search(/t/i);
  return at === 10 && isDate(text.slice(0, at)) && isTime(text.slice(at + 1));
}

function isIpv6(text: string): boolean {
  const halves = text.split("::");
  if (halves.length > 2) return false;
  let groups = 0;
  for (const half of halves) {
    const parts = half === "" ? [] : half.split(":");
    for (const [i, part] of parts.entries()) {
      const last = half === halves.at(-1) && i === parts.length - 1;
      if (last && IPV4.test(part)) groups += 2;
      else if (/^[0-9a-f]{1,4}$/i.test(part)) groups++;
      else return false;
    }
  }
  return halves.length === 2 ? groups < 8 : groups === 8;
}

function isHostname(text: string): boolean {
  return text.length <= 253 && text.split(".").every((label) => LABEL.test(label));
}

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@");
  const local = text.slice(0, at);
  const host = text.slice(at + 1);
  if (at < 1 || local.length > 64 || !(ATOM.test(local) || QUOTED.test(local))) return false;
  const address = /^\[(?:(ipv6:)?(.*))\]$/i.exec(host);
  if (address === null) return isHostname(host);
  return address[1] === undefined ? IPV4.test(address[2] ?? "") : isIpv6(address[2] ?? "");
}

function isReference(text: string): boolean {
  const [, scheme, authority, path = "", query = "", fragment = ""] = URI.exec(text) ?? [];
  if (![path, query, fragment].every((part) => URI_TEXT.test(part))) return false;
  // Without a scheme, a colon in the first step would look like one.
  if (scheme === undefined && authority === undefined && /^[^/]*:/.test(path)) return false;
  const host = authority === undefined ? "" : AUTHORITY.exec(authority)?.[1];
  if (host === undefined) return false;
  if (!host.startsWith("[")) return true;
  const address = host.slice(1, -1);
  return isIpv6(address) || FUTURE_ADDRESS.test(address);
}

function isRegex(text: string): boolean {
  try {
    new RegExp(text, "u");
    return true;
  } catch {
    return false;
  }
}

function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(text) && isReference(text);
}

/** The formats that are checked; another is taken as a remark. Each takes time linear to the text. */
export const schemaFormats: { readonly [name: string]: Format } = {
  date: isDate,
  time: isTime,
  "date-time": isDateTime,
  duration: matches(DURATION),
  email: isEmail,
  hostname: isHostname,
  ipv4: matches(IPV4),
  ipv6: isIpv6,
  uri: isUri,
  url: isUri,
  "uri-reference": isReference,
  "uri-template": matches(TEMPLATE),
  uuid: matches(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i),
  "json-pointer": matches(/^(?:\/(?:[^~/]|~[01])*)*$/),
  "relative-json-pointer": matches(/^(?:0|[1-9]\d*)(?:#|(?:\/(?:[^~/]|~[01])*)*)$/),
  regex: isRegex,
};
