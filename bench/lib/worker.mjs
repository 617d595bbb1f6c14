// The process of one peer: runs the functions that it is asked for, one after the other.
const jobs = await import(process.argv[2]);
let last = Promise.resolve();
process.on("message", ({ id, name, args }) => {
  last = last.then(async () => {
    try {
      process.send({ id, result: await jobs[name](args) });
    } catch (fault) {
      process.send({ id, fault: fault?.stack ?? `${fault}` });
    }
  });
});
process.on("disconnect", () => process.exit());
