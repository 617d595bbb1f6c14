import { connect } from "@restatedev/restate-sdk-clients";
import type { SessionItem } from "@shedkit/agent";
import { Models, settingsOf } from "@shedkit/agent/internals";
import { AgenticError } from "@shedkit/types";
import { DurableClient } from "./client.js";
import { addressOf, Connection } from "./connection.js";
import { checkDefinition, type DurableDefinition, serviceName } from "./definition.js";
import { feedOf } from "./feed.js";
import { inboxOf } from "./inbox.js";
import { Publisher } from "./publisher.js";
import { type ServingProcess, sessionOf } from "./service.js";

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

/** The models of an agent, for all turns of a process. `release()` closes what was loaded. */
export function modelsOf({ agent }: DurableDefinition): Models {
  const models = new Models(settingsOf(agent).source);
  models.retain();
  return models;
}

export function servicesOf(
  definition: DurableDefinition,
  options: { ingress?: string | undefined } & ServingProcess,
): DurableService[] {
  const { ingress, ...process } = options;
  const name = serviceName(definition);
  const feed = feedOf(name);
  const publisher =
    ingress === undefined
      ? undefined
      : new Publisher(connect({ url: addressOf(ingress, "ingress") }), { name: feed.name });
  const show = (sessionId: string, item: SessionItem) => publisher?.push(sessionId, item);
  return [sessionOf(definition, show, process), inboxOf(name), feed];
}
