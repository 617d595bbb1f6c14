import { changeLines } from "./change.js";
import type { Gate } from "./permission.js";
import type { Prompt } from "./prompt.js";
import type { Renderer } from "./renderer.js";

/** Lets everything run: `--yes`. */
export const allowAll: Gate = async () => undefined;

/** Without a person to ask, nothing may change. `onDenied` is told of each refusal. */
export function denyAll(onDenied: (tool: string) => void): Gate {
  return async ({ tool }) => {
    onDenied(tool);
    return `Not permitted: "${tool}" changes files, and there is nobody to ask. Answer without it.`;
  };
}

/** Asks the person: once, for the session, or no, with a reason. One question at a time. */
export function askPerson(prompt: Prompt, renderer: Renderer): Gate {
  const always = new Set<string>();
  let before: Promise<unknown> = Promise.resolve();
  return ({ tool, arguments: args, signal }) => {
    const decided = before.then(async () => {
      if (always.has(tool) || signal.aborted) return undefined;
      renderer.change(changeLines(tool, args));
      const answer = await prompt.line("Allow this? [y]es, [a]lways in this session, or say why not: ", { signal });
      const text = answer.type === "line" ? answer.text : "";
      if (/^(y|yes)$/i.test(text)) return undefined;
      if (/^(a|always)$/i.test(text)) {
        always.add(tool);
        return undefined;
      }
      const reason = /^(n|no)?$/i.test(text) ? "" : ` They said: ${text}`;
      return `The user did not allow this call of "${tool}".${reason}`;
    });
    before = decided.catch(() => {});
    return decided;
  };
}
