import { tinyGguf } from "@shedkit/testing";
import { expect, test } from "vitest";
import { estimateMemory, inspectModel } from "../src/index.js";
import { fetchModel, hubForTest, tempFolder } from "./support/hub.js";

const large = tinyGguf({ seed: 1, layers: 12 });
const small = tinyGguf({ seed: 2, layers: 2 });
const repo = { "m-Q4_K_M.gguf": large, "m-Q2_K.gguf": small };

const contextLength = 64; // so that weights are most of what is needed, as they are in models of size

async function prepared() {
  const hub = await hubForTest();
  hub.addModel("acme/Tiny-GGUF", repo);
  const { headers } = await inspectModel("acme/Tiny-GGUF", { hub: { endpoint: hub.url } });
  const { total } = estimateMemory(headers, { contextLength });
  const [cache, other] = [await tempFolder(), await tempFolder()];
  hub.requests.length = 0;
  /** What the large one takes, or a little less. */
  return { hub, cache, other, enough: { memory: total.cpu / 0.8 }, less: { memory: total.cpu } };
}

test("a smaller quantization is fetched where the usual one does not fit the machine, and it is said why", async () => {
  const { hub, cache, less } = await prepared();
  const found = await fetchModel("acme/Tiny-GGUF", hub, cache, { machine: less, contextLength });
  expect(found.quantization).toBe("Q2_K");
  expect(found.reason).toMatch(/^Q2_K, on the CPU: .* of memory free\. Q4_K_M does not fit so\.$/);
  expect(found.events).toContainEqual(expect.objectContaining({ type: "chosen", reason: found.reason }));
});

test("the usual one is fetched where it fits, is named, or nobody looks at the machine", async () => {
  const { hub, cache, other, enough, less } = await prepared();
  const fetched = async (name: string, folder: string, machine?: { memory: number }) =>
    (await fetchModel(name, hub, folder, { machine, contextLength })).quantization;
  expect(await fetched("acme/Tiny-GGUF", cache, enough)).toBe("Q4_K_M");
  expect(await fetched("acme/Tiny-GGUF:Q4_K_M", other, less)).toBe("Q4_K_M");
  expect(await fetched("acme/Tiny-GGUF", other)).toBe("Q4_K_M");
});

test("one that is here and fits is taken again, whatever the machine has free now", async () => {
  const { hub, cache, enough, less } = await prepared();
  await fetchModel("acme/Tiny-GGUF", hub, cache, { machine: less, contextLength });
  const again = await fetchModel("acme/Tiny-GGUF", hub, cache, { machine: enough, contextLength });
  expect(again).toMatchObject({ quantization: "Q2_K", source: "cache" });
});

test("a large machine is asked nothing: no header is read", async () => {
  const { hub, cache, other, less } = await prepared();
  const headersRead = () => hub.requests.filter(({ range }) => range && range[1] - range[0] > 500_000).length;
  await fetchModel("acme/Tiny-GGUF", hub, cache, { machine: { memory: 1e12 } });
  expect(headersRead()).toBe(0);
  await fetchModel("acme/Tiny-GGUF", hub, other, { machine: less, contextLength });
  expect(headersRead()).toBeGreaterThan(0);
});

test("headers that cannot be read leave it at the usual one", async () => {
  const { hub, cache, less } = await prepared();
  let refused = 0;
  hub.fault = ({ range }) =>
    range && range[1] - range[0] > 500_000 && ++refused ? { type: "status", status: 500 } : undefined;
  const found = await fetchModel("acme/Tiny-GGUF", hub, cache, { machine: less, contextLength });
  expect(refused).toBeGreaterThan(0);
  expect(found.quantization).toBe("Q4_K_M");
});
