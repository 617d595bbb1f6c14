import { AgenticError } from "@shedkit/types";

export type Runtime = typeof import("@huggingface/transformers");

const PACKAGE = "@huggingface/transformers";

/**
 * Imports transformers.js, and keeps it from writing to the program's output. Throws AgenticError `provider` with the
 * install line where it is missing.
 */
export async function importRuntime(
  load: () => Promise<Runtime> = () => import("@huggingface/transformers"),
): Promise<Runtime> {
  try {
    const runtime = await load();
    runtime.env.logLevel = runtime.LogLevel.NONE;
    return runtime;
  } catch (cause) {
    const code = (cause as { code?: unknown }).code;
    const message = cause instanceof Error ? cause.message : String(cause);
    const install = `npm i ${PACKAGE}`;
    const text =
      code === "ERR_MODULE_NOT_FOUND" && message.includes(PACKAGE)
        ? `ONNX models need ${PACKAGE}, which is not installed; install it with: ${install}`
        : `${PACKAGE} cannot be loaded (${message.split("\n", 1)[0]}); install it again with: ${install}`;
    throw new AgenticError("provider", text, { package: PACKAGE, install, problem: "missingRuntime" }, { cause });
  }
}
