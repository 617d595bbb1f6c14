import type { TestProject } from "vitest/node";
import startPostgres from "../../../store-postgres/test/support/server.js";
import { restateBinary, startRestate } from "./restate.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** Absent where there is no Restate server for this platform. */
    restate: { ingress: string; admin: string } | undefined;
  }
}

/** Starts a Restate server and a PostgreSQL for the tests. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const binary = restateBinary();
  if (binary === undefined) {
    console.log(`No Restate server for ${process.platform}-${process.arch}: what needs one is skipped.`);
    project.provide("restate", undefined);
    return async () => {};
  }
  const [stopPostgres, restate] = await Promise.all([startPostgres(project), startRestate(binary)]);
  project.provide("restate", { ingress: restate.ingress, admin: restate.admin });
  return async () => {
    await Promise.all([stopPostgres(), restate.stop()]);
  };
}
