type Json = { readonly [key: string]: unknown };

/** How a plain schema is written. */
export interface PlainOptions {
  /** The name of a property. Default: its own. */
  name?: ((name: string) => string) | undefined;
  /** The name of a type. Default: its own. */
  type?: ((type: string) => string) | undefined;
  /** Properties without a description get an empty one. Default: false. */
  described?: boolean | undefined;
}

/**
 * A schema for templates that take it for granted that each property has one type, and objects their properties: of
 * alternatives the first stands for all, `nullable` for null. The model is told less than there is; its grammar, and
 * who checks the arguments, go by the whole schema.
 */
export function plainSchema(schema: object, options: PlainOptions = {}): Json {
  const { properties, items, type, anyOf, oneOf, default: usual, ...rest } = schema as Json;
  const choices = [anyOf, oneOf].find((list) => Array.isArray(list)) as readonly unknown[] | undefined;
  const wanted = choices?.filter((choice) => isObject(choice) && choice.type !== "null") ?? [];
  if (choices && isObject(wanted[0])) {
    const nullable = wanted.length < choices.length;
    return plainSchema({ ...rest, ...wanted[0], ...(nullable && { nullable }) }, options);
  }
  const types = typesOf(type, rest.enum, properties, items);
  const [main = "string"] = types.filter((name) => name !== "null");
  return {
    ...rest,
    ...(usual !== undefined && usual !== null && { default: usual }),
    ...((main === "object" || isObject(properties)) && { properties: plainProperties(properties, options) }),
    ...(isObject(items) && { items: plainSchema(items, options) }),
    ...(types.includes("null") && types.length > 1 && { nullable: true }),
    type: options.type?.(main) ?? main,
  };
}

function plainProperties(properties: unknown, options: PlainOptions): Json {
  if (!isObject(properties)) return {};
  const entries = Object.entries(properties).map(([name, value]) => [
    options.name?.(name) ?? name,
    { ...(options.described && { description: "" }), ...plainSchema(isObject(value) ? value : {}, options) },
  ]);
  return Object.fromEntries(entries);
}

function typesOf(type: unknown, values: unknown, properties: unknown, items: unknown): string[] {
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((name) => typeof name === "string");
  if (isObject(properties)) return ["object"];
  if (items !== undefined) return ["array"];
  return Array.isArray(values) && typeof values[0] === "number" ? ["number"] : ["string"];
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
