import { AgenticError } from "@shedkit/types";

/** The user's own `ai`. Throws AgenticError `provider` with the line that installs it. */
export async function loadAi(): Promise<Pick<typeof import("ai"), "asSchema">> {
  try {
    return await import("ai");
  } catch (cause) {
    const install = "npm i ai";
    const message = `The package "ai" could not be loaded. Install it: ${install}`;
    throw new AgenticError("provider", message, { package: "ai", install }, { cause });
  }
}
