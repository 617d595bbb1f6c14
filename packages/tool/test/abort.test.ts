import { describe, expect, it } from "vitest";
import { onAbort } from "../src/index.js";

/** A signal, and how many listeners it has. */
function counted(): { controller: AbortController; listeners: () => number } {
  const controller = new AbortController();
  const { signal } = controller;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners++;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners--;
    remove(...args);
  };
  return { controller, listeners: () => listeners };
}

describe("onAbort", () => {
  it("calls all who wait back, once, in the order in which they came", () => {
    const { controller } = counted();
    const called: string[] = [];
    for (const name of ["a", "b", "c"]) onAbort(controller.signal, () => called.push(name));
    controller.abort();
    controller.abort();
    expect(called).toEqual(["a", "b", "c"]);
  });

  it("takes one listener of the signal for all, and none when nobody waits any more", () => {
    const { controller, listeners } = counted();
    const leave = [1, 2, 3].map(() => onAbort(controller.signal, () => undefined));
    expect(listeners()).toBe(1);
    for (const each of leave) each();
    expect(listeners()).toBe(0);
    leave[0]?.(); // again
    expect(listeners()).toBe(0);
    let called = 0;
    onAbort(controller.signal, () => called++);
    controller.abort();
    expect(called).toBe(1);
  });

  it("calls nobody who left, not even while the others are called", () => {
    const { controller } = counted();
    const called: string[] = [];
    onAbort(controller.signal, () => {
      called.push("a");
      leave();
    });
    const leave = onAbort(controller.signal, () => called.push("b"));
    controller.abort();
    expect(called).toEqual(["a"]);
  });

  it("calls nobody who begins to wait while the others are called", () => {
    const { controller } = counted();
    const called: string[] = [];
    onAbort(controller.signal, () => {
      called.push("a");
      onAbort(controller.signal, () => called.push("late"));
    });
    controller.abort();
    expect(called).toEqual(["a"]); // as with a listener: what is aborted aborts no more
  });
});
