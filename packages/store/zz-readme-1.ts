import { MemoryStorage } from "@shedkit/store";

const storage = new MemoryStorage();
const version = await storage.set("counter", 1, { ifVersion: 0 }); // 0: only if absent
await storage.set("counter", 2, { ifVersion: version });
console.log(await storage.get("counter"));
