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
  // Made when they are first needed: of many sessions, most hold nothing here.
  #values: Map<string, unknown> | undefined;
  #atEnd: (() => void | Promise<void>)[] | undefined;

  insert<T>(key: Resource<T>, value: T): void {
    this.#values ??= new Map();
    this.#values.set(key.name, value);
  }

  get<T>(key: Resource<T>): T | undefined {
    return this.#values?.get(key.name) as T | undefined;
  }

  /** Throws ToolError `serviceUnavailable`, naming the resource. */
  require<T>(key: Resource<T>): T {
    if (!this.has(key)) {
      throw new ToolError("serviceUnavailable", key.name, `The resource "${key.name}" was not given to this session.`);
    }
    return this.get(key) as T;
  }

  has(key: Resource<unknown>): boolean {
    return this.#values?.has(key.name) ?? false;
  }

  /** False where it was not there. */
  delete(key: Resource<unknown>): boolean {
    return this.#values?.delete(key.name) ?? false;
  }

  /** The value, made and kept on the first use. */
  getOrDefault<T>(key: Resource<T>, make: () => T): T {
    if (!this.has(key)) this.insert(key, make());
    return this.get(key) as T;
  }

  /** Has `release` called when these resources are disposed of: for what a tool started and must not leave behind. */
  defer(release: () => void | Promise<void>): void {
    this.#atEnd ??= [];
    this.#atEnd.push(release);
  }

  /** Releases what was deferred, the latest first. One that fails does not keep the others. For the owner, at his end. */
  async dispose(): Promise<void> {
    for (let release = this.#atEnd?.pop(); release; release = this.#atEnd?.pop()) {
      try {
        await release();
      } catch {
        // The owner is ending; there is nobody to tell.
      }
    }
  }
}
