import { AgenticError } from "@shedkit/types";
import { DurableClient } from "./client.js";
import { Connection } from "./connection.js";
import { checkDefinition, type DurableDefinition, serviceName } from "./definition.js";
import { modelsOf, servicesOf } from "./services.js";

/**
 * A virtual object, for `bind` of `@restatedev/restate-sdk`. Not that package's own type: its declarations do not
 * compile under `exactOptionalPropertyTypes`, and who imports ours should be free to.
 */
export interface DurableService {
  name: string;
}

/** An agent that many workers run. */
export interface DurableAgent {
  /** The service's name in Restate. */
  readonly name: string;
  /**
   * What a worker binds. `ingress`, the address of Restate's ingress, lets readers see text as it is made; without it
   * they see each record once it is in the log.
   */
  services(options?: { ingress?: string | undefined }): DurableService[];
  /** Talks to the agent's sessions, from anywhere. */
  client(options: { ingress: string }): DurableClient;
}

/**
 * Makes an agent's sessions run on Restate. The builder is the same as in one process; its sessions' logs lie in its
 * store.
 *
 * Throws AgenticError `session` for what cannot be carried from one worker to another, with why: reason
 * "store not shared", or "not durable".
 */
export function durable(definition: DurableDefinition): DurableAgent {
  checkDefinition(definition);
  const name = serviceName(definition);
  const agent: DurableAgent = {
    name,
    services: ({ ingress } = {}) => servicesOf(definition, { ingress, models: modelsOf(definition) }),
    client: ({ ingress }) => new DurableClient(new Connection(name, ingress)),
  };
  definitions.set(agent, definition);
  return agent;
}

/**
 * Talks to the sessions of an agent that others run, by its name alone.
 *
 * `worker` is that of its definition's `workspace`, where there is one.
 */
export function durableClient(
  agent: { name: string; worker?: string | undefined },
  { ingress }: { ingress: string },
): DurableClient {
  const { name, worker } = agent;
  return new DurableClient(new Connection(worker === undefined ? name : `${name}.${worker}`, ingress));
}

const definitions = new WeakMap<DurableAgent, DurableDefinition>();

/** What an agent was made of. */
export function definitionOf(agent: DurableAgent): DurableDefinition {
  const definition = definitions.get(agent);
  if (definition) return definition;
  throw new AgenticError("session", `The agent "${agent.name}" was not made by durable(...).`, {
    reason: "not durable",
  });
}
