import { connect } from "@restatedev/restate-sdk-clients";
import type { SessionItem } from "@shedkit/agent";
import { Models, settingsOf } from "@shedkit/agent/internals";
import { addressOf } from "./connection.js";
import { type DurableDefinition, serviceName } from "./definition.js";
import { feedOf } from "./feed.js";
import { inboxOf } from "./inbox.js";
import { Publisher } from "./publisher.js";
import { type ServingProcess, sessionOf } from "./service.js";

/** The models of an agent, for all turns of a process. `release()` closes what was loaded. */
export function modelsOf({ agent }: DurableDefinition): Models {
  const models = new Models(settingsOf(agent).source);
  models.retain();
  return models;
}

/** What a worker binds. */
export function servicesOf(
  definition: DurableDefinition,
  options: { ingress?: string | undefined } & ServingProcess,
): { name: string }[] {
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
