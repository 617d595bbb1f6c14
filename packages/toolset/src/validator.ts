import { evalFreeValidator, type SchemaValidator } from "@shedkit/tool";

let loading: Promise<SchemaValidator> | undefined;

/**
 * The validator to use by default: ajv, which is imported when this is first called; where code may not be made from
 * strings (edge workers), the eval-free one. The verdicts are the same.
 */
export function loadValidator(): Promise<SchemaValidator> {
  loading ??= canMakeCode()
    ? import("./ajv.js").then((module) => module.ajvValidator())
    : Promise.resolve(evalFreeValidator);
  return loading;
}

function canMakeCode(): boolean {
  try {
    new Function("");
    return true;
  } catch {
    return false;
  }
}
