import pg from "pg";
import { inject, onTestFinished } from "vitest";

/** The address of a new, empty schema that is gone after the test. */
export async function newSchema(): Promise<string> {
  const server = inject("postgres");
  const name = `s${crypto.randomUUID().replaceAll("-", "")}`;
  const run = async (sql: string): Promise<void> => {
    const client = new pg.Client(server);
    await client.connect();
    await client.query(sql);
    await client.end();
  };
  await run(`CREATE SCHEMA ${name}`);
  onTestFinished(() => run(`SET client_min_messages = error; DROP SCHEMA ${name} CASCADE`));
  return `${server}?options=${encodeURIComponent(`-c search_path=${name}`)}`;
}
