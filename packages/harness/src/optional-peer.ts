import { AgenticError } from "@shedkit/types";

/**
 * Imports a package that need not be installed. Throws AgenticError `provider` with the line that installs it where
 * it is not there; any other failure of the import is thrown as it is. `beside`: what it needs in turn, which nobody
 * has who does not have it.
 */
export async function optionalPeer<T>(name: string, load: () => Promise<T>, beside?: string): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (!isMissing(cause, name)) throw cause;
    const install = ["npm i", name, ...(beside === undefined ? [] : [beside])].join(" ");
    throw new AgenticError(
      "provider",
      `${name} is not installed; install it with: ${install}`,
      { package: name, install },
      { cause },
    );
  }
}

function isMissing(error: unknown, name: string): boolean {
  if (!(error instanceof Error)) return false;
  const code = (error as { code?: unknown }).code;
  return (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") && error.message.includes(name);
}
