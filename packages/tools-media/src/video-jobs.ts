import { type Resources, type StateHandle, stateOf, ToolCallResult, type ToolContext } from "@shedkit/tool";
import type { VideoJob } from "./client.js";

/** A video that a session has asked for: kept with it, so that it is there after a restart too. */
export interface JobEntry {
  /** As the model knows it, e.g. `video-1`. */
  id: string;
  /** The service's id. */
  job: string;
  prompt: string;
  status: string;
}

export interface JobList {
  count: number;
  jobs: JobEntry[];
}

const MOST_KEPT = 100;
const MAX_PROMPT = 100;
const WHOLE = stateOf("media:video");

export function added(
  list: JobList,
  { id: job, status }: VideoJob,
  prompt: string,
): { list: JobList; entry: JobEntry } {
  const count = list.count + 1;
  const short =
    prompt.length <= MAX_PROMPT ? prompt : `${prompt.slice(0, MAX_PROMPT).replace(/[\ud800-\udbff]$/, "")}...`;
  const entry = { id: `video-${count}`, job, prompt: short, status };
  return { list: { count, jobs: [...list.jobs, entry].slice(-MOST_KEPT) }, entry };
}

/** The list, seen by the commands that did not make it; it is the memory of `start`. */
export function jobsOf(resources: Resources): StateHandle<JobList> {
  const whole = resources.get(WHOLE) as StateHandle<{ start: JobList }> | undefined;
  return {
    get: () => whole?.get().start ?? { count: 0, jobs: [] },
    set: (start) => whole?.set({ ...whole.get(), start }),
  };
}

export function noted({ resources }: ToolContext, id: string, status: VideoJob["status"]): void {
  const state = jobsOf(resources);
  const list = state.get();
  if (list.jobs.find((entry) => entry.id === id)?.status === status) return;
  state.set({ ...list, jobs: list.jobs.map((entry) => (entry.id === id ? { ...entry, status } : entry)) });
}

/**
 * The job of an id, or what the model is told where there is none. Where nothing is kept between calls, any id is
 * taken for one of the service.
 */
export function jobFor(asked: string, ctx: ToolContext): JobEntry | ToolCallResult {
  const { jobs } = jobsOf(ctx.resources).get();
  const id = asked.trim();
  const found = jobs.find((entry) => entry.id === id || entry.job === id);
  if (found) return found;
  if (id !== "" && ctx.resources.get(WHOLE) === undefined) return { id, job: id, prompt: "", status: "running" };
  const there = jobs.slice(-20).map((entry) => entry.id);
  const others = there.length === 0 ? "None was started." : `There are: ${there.join(", ")}.`;
  const text = `There is no video "${id}". ${others}`;
  return ToolCallResult.failure(`no such video: ${id}`, text);
}

/** How a job stands, for people and models. */
export function inWords({ status, progress, error }: Omit<VideoJob, "id">): string {
  switch (status) {
    case "queued":
      return "waits for its turn";
    case "running":
      return progress === undefined ? "is being made" : `is being made, ${progress} %`;
    case "done":
      return "is done";
    case "failed":
      return `failed${error === undefined ? "" : `: ${error}`}`;
    case "cancelled":
      return "was cancelled";
  }
}
