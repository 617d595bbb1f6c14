import { format } from "@cfworker/json-schema";

/**
 * The formats that are checked; another is taken as a remark. `url` is read as `uri`: the stricter expressions for it
 * can be made to run for very long.
 */
export const schemaFormats: { readonly [name: string]: (text: string) => boolean } = {
  ...pick("date", "time", "date-time", "duration", "uri", "uri-reference", "uri-template", "email", "hostname"),
  ...pick("ipv4", "ipv6", "regex", "uuid", "json-pointer", "relative-json-pointer"),
  url: (text) => format.uri?.(text) ?? true,
};

function pick(...names: string[]): { [name: string]: (text: string) => boolean } {
  return Object.fromEntries(names.flatMap((name) => (format[name] === undefined ? [] : [[name, format[name]]])));
}
