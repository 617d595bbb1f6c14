import { AgenticError } from "@shedkit/types";
import { addressOf, unreachable } from "./connection.js";

/** What Restate keeps of a service for us, where the worker told it. */
export type Told = { readonly [name: string]: string };

interface Service {
  name: string;
  metadata?: Told;
}

/** Restate's admin interface. Throws AgenticError `session`: "restate unreachable", "registration failed". */
export class Admin {
  readonly #url: string;

  constructor(url: string) {
    this.#url = addressOf(url, "admin interface");
  }

  /** What the newest deployment of a service told; undefined where there is none. */
  async told(service: string): Promise<Told | undefined> {
    const response = await this.#fetch(`/services/${encodeURIComponent(service)}`);
    if (response.status === 404) return undefined;
    return ((await this.#body(response, `tell of the service "${service}"`)) as Service).metadata ?? {};
  }

  /** Registers the deployment at an address; gives what its services told, then or when it was registered first. */
  async register(uri: string, force: boolean): Promise<Map<string, Told>> {
    const response = await this.#fetch("/deployments", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ uri, force }),
    });
    const { services } = (await this.#body(response, `take the worker at ${uri}`)) as { services: Service[] };
    return new Map(services.map(({ name, metadata = {} }) => [name, metadata]));
  }

  async #fetch(path: string, init?: RequestInit): Promise<Response> {
    try {
      return await fetch(`${this.#url}${path}`, init);
    } catch (cause) {
      const hint = "Check the address of its admin interface (port 9070 by default) and that the server runs.";
      throw unreachable(cause, hint, ` at ${this.#url}`);
    }
  }

  async #body(response: Response, what: string): Promise<unknown> {
    const text = await response.text();
    if (response.ok && text.startsWith("{")) return JSON.parse(text);
    const hint =
      response.ok || response.status === 404 || /"source":\s*"ingress"/.test(text)
        ? ` Is ${this.#url} its admin interface?`
        : "";
    throw new AgenticError("session", `Restate did not ${what} (${response.status}): ${text.slice(0, 1000)}${hint}`, {
      reason: "registration failed",
    });
  }
}

/** Throws where Restate's ingress is not there. */
export async function checkIngress(address: string): Promise<void> {
  const url = addressOf(address, "ingress");
  const hint = "Check the address of its ingress (port 8080 by default) and that the server runs.";
  let response: Response;
  try {
    response = await fetch(`${url}/restate/health`);
    await response.text();
  } catch (cause) {
    throw unreachable(cause, hint, ` at ${url}`);
  }
  if (!response.ok) throw unreachable(`it answered ${response.status}`, hint, ` at ${url}`);
}
