import { AgentSession, type AgentSessionBuilder } from "@shedkit/agent";
import { ToolShed } from "@shedkit/shed";
import { type KvMemoryStore, SqlDocumentStore } from "@shedkit/store";
import { PostgresStorage } from "@shedkit/store-postgres";
import { type ScriptedAnswer, ScriptedProvider } from "@shedkit/testing";
import type { ToolImpl } from "@shedkit/tool";
import { inject, onTestFinished } from "vitest";
import { newSchema } from "../../../store-postgres/test/support/schema.js";
import {
  type DurableAgent,
  type DurableDefinition,
  type DurableWorker,
  durable,
  type ServeOptions,
  serveDurable,
} from "../../src/index.js";
import { stepOf } from "./step.js";

export type Builder = AgentSessionBuilder<SqlDocumentStore<PostgresStorage>, KvMemoryStore>;

/** A model that says what its step in the turn is due. */
export function byStep(answers: readonly ScriptedAnswer[]): ScriptedProvider {
  return new ScriptedProvider((request) => answers[stepOf(request)] ?? "That was all.");
}

export async function openStore(url?: string): Promise<SqlDocumentStore<PostgresStorage>> {
  const storage = await PostgresStorage.open(url ?? (await newSchema()));
  onTestFinished(() => storage.close());
  return new SqlDocumentStore(storage);
}

export function agentOf(
  provider: ScriptedProvider,
  store: SqlDocumentStore<PostgresStorage>,
  tools: readonly ToolImpl[] = [],
): Builder {
  const shed = new ToolShed().tools(tools);
  return AgentSession.builder(provider)
    .withModel("m")
    .withDocStore(store)
    .withToolshed(shed.pin(...shed.names()));
}

let count = 0;

/** A name that no other test has. */
export function freeName(): string {
  return `agent-${process.pid}-${count++}`;
}

/** Where the test's Restate server is. */
export function restate(): { ingress: string; admin: string } {
  const found = inject("restate");
  if (!found) throw new Error("There is no Restate server.");
  return found;
}

export async function served(agent: DurableAgent, more: Partial<ServeOptions> = {}): Promise<DurableWorker> {
  const worker = await serveDurable([agent], { ...restate(), ...more });
  onTestFinished(() => worker.close());
  return worker;
}

/** An agent with a worker in this process. */
export async function running(agent: Builder, more: Partial<DurableDefinition> = {}): Promise<DurableAgent> {
  const made = durable({ name: freeName(), agent, ...more });
  await served(made);
  return made;
}
