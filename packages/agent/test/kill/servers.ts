import type { TestProject } from "vitest/node";
import { d1Api } from "../../../store-cloudflare/test/support/d1-api.js";
import { s3Server } from "../../../store-cloudflare/test/support/s3-server.js";
import startPostgres from "../../../store-postgres/test/support/server.js";
import type { StoreKind } from "./stores.js";

/** Starts the server of a store that has one; returns where it is and the function that ends it. */
export async function startServer(kind: StoreKind): Promise<{ server: string; stop(): Promise<void> }> {
  let server = "";
  let stop = async () => {};
  if (kind === "store-cloudflare") {
    const [{ options: d1 }, r2] = await Promise.all([d1Api({ lineBreaks: 7 }), s3Server()]); // these end with the test
    server = JSON.stringify({ d1, r2 });
  } else if (kind === "store-postgres") {
    const project = {
      provide: (_: string, url: string) => {
        server = url;
      },
    };
    stop = await startPostgres(project as Pick<TestProject, "provide"> as TestProject);
  }
  return { server, stop };
}
