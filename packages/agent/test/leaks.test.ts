import { Gate, ScriptedProvider } from "@shedkit/testing";
import { describe, expect, it } from "vitest";
import { hangingTool, sessionOf } from "./helpers.js";

describe("what is left behind", () => {
  it("by aborts at any moment: no timer, no handle, no listener on the caller's signal", async () => {
    const once = async (moment: "model" | "tool" | "stream") => {
      const gate = new Gate();
      const hanging = hangingTool();
      const controller = new AbortController();
      let listeners = 0;
      const { signal } = controller;
      const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
      signal.addEventListener = (...args: Parameters<typeof add>) => {
        listeners++;
        add(...args);
      };
      signal.removeEventListener = (...args: Parameters<typeof remove>) => {
        listeners--;
        remove(...args);
      };
      const provider = new ScriptedProvider([moment === "tool" ? { call: "hang" } : ["Half", { wait: gate }]]);
      const session = await sessionOf(provider, hanging.tool).build();
      const stream = session.runTurnStream("Hi", { signal });
      if (moment === "stream") {
        for await (const event of stream.events()) if (event.type === "text") break;
      } else {
        await (moment === "tool" ? hanging.started : gate.reached);
        if (moment === "model") controller.abort();
        else session.abort();
      }
      await stream.done();
      await session.end();
      expect(listeners).toBe(0);
    };
    await once("model");
    const left = process.getActiveResourcesInfo();
    for (const moment of ["model", "tool", "stream"] as const) await once(moment);
    const more = process.getActiveResourcesInfo().filter((resource) => {
      const at = left.indexOf(resource);
      if (at >= 0) left.splice(at, 1);
      return at < 0;
    });
    expect(more).toEqual([]);
  });
});
