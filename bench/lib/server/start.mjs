import { fork } from "node:child_process";
import { join } from "node:path";

/** Starts the scripted model server in a process of its own. */
export async function startServer() {
  const child = fork(join(import.meta.dirname, "main.mjs"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const faults = [];
  child.on("message", ({ fault }) => fault && faults.push(fault));
  const next = (wanted) =>
    new Promise((resolve, reject) => {
      const end = (code) => reject(new Error(`The model server ended (${code}).`));
      const look = (message) => {
        if (!(wanted in message)) return;
        child.off("message", look);
        child.off("exit", end);
        resolve(message[wanted]);
      };
      child.on("message", look);
      child.once("exit", end);
    });
  const port = await next("port");
  return {
    faults,
    /** The base address of a script, with or without the version that a wire's SDK wants in it. */
    url: (script) => `http://127.0.0.1:${port}/${encodeURIComponent(script)}`,
    /** Makes a script with a state: `module` exports `make(args, tools)`. */
    async script(name, module, args) {
      const made = next("made");
      child.send({ script: name, module: `${module}`, args });
      await made;
    },
    async take(name) {
      const taken = next("taken");
      child.send({ take: name });
      return taken;
    },
    end: () => child.kill(),
  };
}
