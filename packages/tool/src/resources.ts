import { ToolError } from "./error.js";

/** The key of a resource. The name decides, so that two copies of a package agree. */
export interface Resource<T> {
  readonly name: string;
  readonly __type?: T;
}

/** A typed key: `const terminal = resource<Terminal>("terminal")`. */
export function resource<T>(name: string): Resource<T> {
  return { name };
}

/** What tools need at run time (a file system, a terminal, a clock), by typed key. */
export class Resources {
  readonly #values = new Map<string, unknown>();

  insert<T>(key: Resource<T>, value: T): void {
    this.#values.set(key.name, value);
  }

  get<T>(key: Resource<T>): T | undefined {
    return this.#values.get(key.name) as T | undefined;
  }

  /** Throws ToolError `serviceUnavailable`, naming the resource. */
  require<T>(key: Resource<T>): T {
    if (!this.#values.has(key.name)) {
      throw new ToolError("serviceUnavailable", key.name, `The resource "${key.name}" was not given to this session.`);
    }
    return this.#values.get(key.name) as T;
  }

  has(key: Resource<unknown>): boolean {
    return this.#values.has(key.name);
  }

  /** False where it was not there. */
  delete(key: Resource<unknown>): boolean {
    return this.#values.delete(key.name);
  }

  /** The value, made and kept on the first use. */
  getOrDefault<T>(key: Resource<T>, make: () => T): T {
    if (!this.#values.has(key.name)) this.#values.set(key.name, make());
    return this.#values.get(key.name) as T;
  }
}
