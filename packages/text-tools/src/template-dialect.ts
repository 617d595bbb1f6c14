/** What `strftime_now` of templates is called here: the engine's own reads the clock each time. */
export const DATE_FUNCTION = "strftime_fixed";

/** Changes to a list that are kept in a namespace, which the engine has no methods for. */
const APPEND = /\{%(-?)\s*set\s+\w+\s*=\s*(\w+\.\w+)\.append\(((?:[^()]|\([^()]*\))*)\)\s*(-?)%\}/g;
const TAKE_FIRST = /\{%(-?)\s*set\s+(\w+)\s*=\s*(\w+\.\w+)\.pop\(0\)\s*(-?)%\}/g;

/** A chat template's source in the part of Jinja that our engine knows. */
export function inOurDialect(source: string): string {
  return source
    .replace(/\bstrftime_now\b/g, DATE_FUNCTION)
    .replace(APPEND, (_, open, list, item, close) => `{%${open} set ${list} = ${list} + [${item}] ${close}%}`)
    .replace(
      TAKE_FIRST,
      (_, open, name, list, close) => `{%${open} set ${name} = ${list}[0] -%}{%- set ${list} = ${list}[1:] ${close}%}`,
    );
}
