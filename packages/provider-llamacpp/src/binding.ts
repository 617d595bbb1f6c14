import { AgenticError } from "@shedkit/types";
import type { Llama, LlamaOptions } from "node-llama-cpp";
import type { LlamaCppOptions } from "./options.js";
import { withQuietConsole } from "./quiet-console.js";

export type Binding = typeof import("node-llama-cpp");

const PACKAGE = "node-llama-cpp";

/** Imports node-llama-cpp. Throws AgenticError `provider` with the install line where it is missing. */
export async function importBinding(load: () => Promise<Binding> = () => import("node-llama-cpp")): Promise<Binding> {
  try {
    return await load();
  } catch (cause) {
    const code = (cause as { code?: unknown }).code;
    const message = cause instanceof Error ? cause.message : String(cause);
    const install = `npm i ${PACKAGE}`;
    const text =
      code === "ERR_MODULE_NOT_FOUND" && message.includes(PACKAGE)
        ? `Local models need ${PACKAGE}, which is not installed; install it with: ${install}`
        : `${PACKAGE} cannot be loaded (${message.split("\n", 1)[0]}); install it again with: ${install}`;
    throw new AgenticError("provider", text, { package: PACKAGE, install, problem: "missingRuntime" }, { cause });
  }
}

/**
 * Starts llama.cpp. It never builds or downloads anything, and what it logs goes nowhere: programs own their output.
 */
export async function startLlama(binding: Binding, backend: LlamaCppOptions["backend"] = "auto"): Promise<Llama> {
  const options: LlamaOptions = {
    gpu: backend === "cpu" ? false : backend,
    build: "never",
    skipDownload: true,
    progressLogs: false,
    logLevel: binding.LlamaLogLevel.disabled,
    logger: () => undefined,
  };
  let llama: Llama;
  try {
    // It tries its addon in a process of its own, and says on the console where that one is killed (ctrl-C does).
    llama = await withQuietConsole(() => binding.getLlama(options));
  } catch (cause) {
    throw noBackend(backend, cause instanceof Error ? (cause.message.split("\n", 1)[0] ?? "") : String(cause), cause);
  }
  if (backend === "auto" || llama.gpu === options.gpu) return llama;
  // It takes the CPU in silence where a system cannot have the backend.
  await llama.dispose();
  throw noBackend(backend, "it is not there on this machine");
}

function noBackend(backend: string, reason: string, cause?: unknown): AgenticError {
  return new AgenticError(
    "provider",
    `llama.cpp cannot start with backend "${backend}": ${reason}. Use backend "cpu", or install ${PACKAGE} with its ` +
      `optional packages for this machine: npm i ${PACKAGE}`,
    { package: PACKAGE, install: `npm i ${PACKAGE}`, problem: "noBackend" },
    { cause },
  );
}
