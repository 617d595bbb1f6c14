import { connect } from "@restatedev/restate-sdk-clients";
import { DurableClient } from "./client.js";
import { checkDefinition, type DurableDefinition, serviceName } from "./definition.js";
import { feedOf } from "./feed.js";
import { inboxOf } from "./inbox.js";
import { Publisher } from "./publisher.js";
import { sessionOf } from "./service.js";

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
  return {
    name,
    services: ({ ingress } = {}) => {
      const feed = feedOf(name);
      const publisher =
        ingress === undefined ? undefined : new Publisher(connect({ url: ingress }), { name: feed.name });
      return [sessionOf(definition, (sessionId, item) => publisher?.push(sessionId, item)), inboxOf(name), feed];
    },
    client: ({ ingress }) => new DurableClient(name, connect({ url: ingress })),
  };
}
