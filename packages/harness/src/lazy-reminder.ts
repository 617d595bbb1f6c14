import type { Reminder } from "@shedkit/tool";

/**
 * A reminder that is made when it is first asked. `id`: its own, so that a shed which has it already does not take it
 * twice.
 */
export function lazyReminder(
  given: Pick<Reminder, "id" | "requires" | "priority">,
  make: () => Promise<Pick<Reminder, "collect">>,
): Reminder {
  let made: Promise<Pick<Reminder, "collect">> | undefined;
  let ready: Pick<Reminder, "collect"> | undefined;
  return {
    ...given,
    collect: (ctx, result) => {
      if (ready) return ready.collect(ctx, result);
      made ??= make();
      return made.then((reminder) => {
        ready = reminder;
        return reminder.collect(ctx, result);
      });
    },
  };
}
