import { cleanPath, type FileSystem, quote } from "@shedkit/fs";
import {
  defineCommands,
  defineTool,
  type Progress,
  ToolCallResult,
  type ToolContext,
  type ToolImpl,
} from "@shedkit/tool";
import * as Type from "@sinclair/typebox";
import type { VideoClient, VideoJob, VideoRequest } from "./client.js";
import { sleep } from "./endpoint.js";
import { asking, badSize } from "./failing.js";
import { imageAt } from "./first-image.js";
import { Pieces } from "./pieces.js";
import { absolute, fileName, placeFor, save, slugOf, writing } from "./save.js";
import { added, inWords, type JobList, jobFor, jobsOf, noted } from "./video-jobs.js";

/** Settings of `video`; a configuration of a tool set has none of them. */
export interface VideoParams {
  /** Where videos go for which no path is given. Default: `videos`. */
  folder: string;
  /** The sizes that there are; none: any. Default: none. */
  sizes: string[];
  /** The longest video, in seconds. Default: 60. */
  maxSeconds: number;
  /** How large a video may be, in bytes: it is in memory while it is saved. Default: 200 MiB. */
  maxBytes: number;
  /** How often a job is looked at while a call waits for it, in milliseconds. Default: 5,000. */
  pollMs: number;
  /** How long one request may take, a download aside, in milliseconds. Default: 60,000. */
  timeoutMs: number;
  /** How long a download may take, in milliseconds. Default: 600,000. */
  downloadMs: number;
}

const MIB = 1024 * 1024;
const DEFAULTS: VideoParams = {
  folder: "videos",
  sizes: [],
  maxSeconds: 60,
  maxBytes: 200 * MIB,
  pollMs: 5000,
  timeoutMs: 60_000,
  downloadMs: 600_000,
};
const MAX_WAIT_MS = 600_000;
const MOST_CHECKED = 20;

const JobListSchema = Type.Object({
  count: Type.Integer(),
  jobs: Type.Array(
    Type.Object({ id: Type.String(), job: Type.String(), prompt: Type.String(), status: Type.String() }),
  ),
});

const Id = Type.String({ minLength: 1, description: "The video's id, e.g. video-1." });
const Row = Type.Object({ id: Type.String(), status: Type.String(), progress: Type.Optional(Type.Integer()) });
type Row = { id: string; status: VideoJob["status"]; progress?: number };

/**
 * `video`, with the commands `start`, `check`, `download` and `cancel`: videos are made as jobs of a service, which
 * go on by themselves, and are saved in a file system.
 */
export function videoTool(client: VideoClient, fs: FileSystem, params: Partial<VideoParams> = {}): ToolImpl {
  const settings = { ...DEFAULTS, ...params };
  const capabilities = { destructive: false };
  const network = { action: "network", target: client.host } as const;
  const polled = async (entry: { id: string; job: string }, ctx: ToolContext) => {
    const job = await asking(ctx, settings.timeoutMs, "Looking at it", (signal) => client.poll(entry.job, { signal }));
    if (!ToolCallResult.is(job)) noted(ctx, entry.id, job.status);
    return job;
  };

  const start = defineTool({
    id: "start",
    namespace: "media",
    kind: "videoGen",
    description: "Has a video made, and returns at once.",
    input: Type.Object(
      {
        prompt: Type.String({ minLength: 1, maxLength: 32_000, description: "What is to be seen and heard, and how." }),
        size: Type.Optional(Type.String({ description: "Width and height in pixels, e.g. 1280x720." })),
        seconds: Type.Optional(Type.Integer({ minimum: 1, description: "How long it is to be." })),
        image: Type.Optional(Type.String({ description: "A file with an image that it begins with." })),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({ id: Type.String(), job: Type.String(), status: Type.String() }),
    state: { schema: JobListSchema, version: 1, initial: (): JobList => ({ count: 0, jobs: [] }) },
    capabilities,
    access: ({ prompt, image }) => [
      { ...network, detail: { prompt } },
      ...(image === undefined ? [] : [{ action: "read" as const, target: absolute(fs, image) }]),
    ],
    run: async (input, ctx) => {
      const prompt = input.prompt.trim();
      const size = input.size?.trim() || undefined;
      if (prompt === "") return ToolCallResult.failure("no prompt", `${ctx.names.param("prompt")} is empty.`);
      const wrong = badSize(size, settings.sizes, ctx);
      if (wrong) return wrong;
      if ((input.seconds ?? 0) > settings.maxSeconds) {
        const asked = `${ctx.names.param("seconds")} is ${input.seconds}`;
        const text = `${asked}; ${settings.maxSeconds} are the most. Nothing was started.`;
        return ToolCallResult.failure("too long", text);
      }
      const file = cleanPath(input.image ?? "");
      const image = file === "" ? undefined : await imageAt(fs, file, ctx);
      if (ToolCallResult.is(image)) return image;
      const request: VideoRequest = { prompt, size, seconds: input.seconds, image };
      const job = await asking(ctx, settings.timeoutMs, "Starting it", (signal) => client.start(request, { signal }));
      if (ToolCallResult.is(job)) return job;
      const { list, entry } = added(ctx.state.get(), job, prompt);
      ctx.state.set(list);
      const next = `${how("check", entry.id, ctx)} says how it stands; go on with other work meanwhile.`;
      const text = `${entry.id} ${inWords(job)}.\n${next}`;
      const output = { id: entry.id, job: job.id, status: job.status };
      if (job.status === "failed")
        return new ToolCallResult([{ type: "text", text: `${entry.id} ${inWords(job)}.` }], {
          output,
          errorDetail: "failed",
        });
      return new ToolCallResult([{ type: "text", text }], { output });
    },
  });

  const check = defineTool({
    id: "check",
    namespace: "media",
    kind: "videoGen",
    description: "Says how a video stands, or all of them.",
    input: Type.Object(
      {
        id: Type.Optional(Id),
        wait_ms: Type.Optional(
          Type.Number({
            minimum: 0,
            description: "With an id: waits so long for it, in milliseconds; at most 600000.",
          }),
        ),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({ videos: Type.Array(Row) }),
    capabilities: { ...capabilities, readOnly: true, timeoutMs: MAX_WAIT_MS + 120_000 },
    access: () => [network],
    async *execute({ id, wait_ms = 0 }, ctx): AsyncGenerator<Progress, ToolCallResult, void> {
      if (id === undefined) return all(ctx);
      const entry = jobFor(id, ctx);
      if (ToolCallResult.is(entry)) return entry;
      // Counted in waits, not by a clock: so much waiting, however long the service takes to answer.
      let left = Math.min(wait_ms, MAX_WAIT_MS);
      for (let last = ""; ; ) {
        const job = await polled(entry, ctx);
        if (ToolCallResult.is(job)) return job;
        const words = inWords(job);
        if (ended(job) || left <= 0) return standing(entry.id, job, ctx);
        if (words !== last) yield { text: `${entry.id} ${words}.`, data: rowOf(entry.id, job) };
        last = words;
        const wait = Math.min(settings.pollMs, left);
        await sleep(wait, ctx.signal);
        left -= wait;
      }
    },
  });
  const all = async (ctx: ToolContext): Promise<ToolCallResult> => {
    const { jobs } = jobsOf(ctx.resources).get();
    if (jobs.length === 0)
      return new ToolCallResult([{ type: "text", text: "No video was started." }], { output: { videos: [] } });
    const rows: Row[] = [];
    const lines: string[] = [];
    for (const entry of jobs.slice(-MOST_CHECKED)) {
      const known = entry.status as VideoJob["status"];
      const job =
        known === "queued" || known === "running" ? await polled(entry, ctx) : { id: entry.job, status: known };
      if (ToolCallResult.is(job)) return job;
      rows.push(rowOf(entry.id, job));
      lines.push(`${entry.id}: ${inWords(job)} (${entry.prompt})`);
    }
    return new ToolCallResult([{ type: "text", text: lines.join("\n") }], {
      output: { videos: rows.map((row) => ({ ...row })) },
    });
  };

  const download = defineTool({
    id: "download",
    namespace: "media",
    kind: "videoGen",
    description: "Saves a video that is done as a file.",
    input: Type.Object(
      {
        id: Id,
        path: Type.Optional(Type.String({ description: "The file to make. Default: a name for it." })),
        overwrite: Type.Optional(Type.Boolean({ default: false, description: "Replaces a file that is there." })),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({ id: Type.String(), path: Type.String(), mediaType: Type.String(), bytes: Type.Integer() }),
    capabilities: {
      ...capabilities,
      timeoutMs: settings.downloadMs + 120_000,
      touches: ({ path }) => (typeof path === "string" ? [fileName(fs, path)] : []),
    },
    access: ({ path }) => [network, writing(fs, path, settings.folder)],
    async *execute(input, ctx): AsyncGenerator<Progress, ToolCallResult, void> {
      const entry = jobFor(input.id, ctx);
      if (ToolCallResult.is(entry)) return entry;
      const { id, job, prompt } = entry;
      const standard = { folder: settings.folder, name: slugOf(prompt === "" ? id : prompt) };
      const names = { path: ctx.names.param("path"), overwrite: ctx.names.param("overwrite"), tool: ctx.names.tool };
      const place = await placeFor(fs, input, standard, names, ctx.signal);
      if (ToolCallResult.is(place)) return place;
      const now = await polled(entry, ctx);
      if (ToolCallResult.is(now)) return now;
      if (now.status !== "done") {
        const wait = ended(now) ? "" : ` ${how("check", id, ctx)} with ${ctx.names.param("wait_ms")} waits for it.`;
        return ToolCallResult.failure(
          `not done: ${now.status}`,
          `${id} ${inWords(now)}: there is nothing to download.${wait}`,
        );
      }
      const pieces = new Pieces();
      const { maxBytes, downloadMs } = settings;
      const loading = asking(ctx, downloadMs, "Downloading it", (signal) =>
        client.download(job, { maxBytes, signal, onProgress: (bytes) => pieces.tell(bytes) }),
      ).finally(() => pieces.end());
      loading.catch(() => undefined); // it is looked at below, when all was told
      for await (const bytes of pieces.told())
        yield { text: `${id}: ${Math.floor(bytes / MIB)} MiB`, data: { id, bytes } };
      const video = await loading;
      if (ToolCallResult.is(video)) return video;
      const path = await save(fs, place, video, ctx.names.tool, ctx.signal);
      const output = { id, path, mediaType: video.mediaType, bytes: video.data.length };
      const text = `Saved ${id} as ${quote(path)} (${output.mediaType}, ${output.bytes} bytes).`;
      return new ToolCallResult([{ type: "text", text }], { output });
    },
  });

  const cancel = defineTool({
    id: "cancel",
    namespace: "media",
    kind: "videoGen",
    description: "Ends a job at the service; a video that is done is deleted there.",
    input: Type.Object({ id: Id }, { additionalProperties: false }),
    output: Type.Object({ id: Type.String(), status: Type.String() }),
    capabilities: { ...capabilities, idempotent: true },
    access: () => [network],
    run: async ({ id: asked }, ctx) => {
      const entry = jobFor(asked, ctx);
      if (ToolCallResult.is(entry)) return entry;
      const { id, job } = entry;
      const gone = await asking(ctx, settings.timeoutMs, "Cancelling it", (signal) => client.cancel(job, { signal }));
      if (ToolCallResult.is(gone)) return gone;
      noted(ctx, id, "cancelled");
      return new ToolCallResult([{ type: "text", text: `${id} was cancelled.` }], {
        output: { id, status: "cancelled" },
      });
    },
  });

  return defineCommands({
    name: "video",
    namespace: "media",
    description:
      "Make a video.\nstart has it made from what you describe, check says how far it is and waits for it, download saves it as a file, " +
      "cancel ends it. It takes minutes and costs money: ask for what is needed.",
    commands: { start, check, download, cancel },
  });
}

function standing(id: string, job: VideoJob, ctx: ToolContext): ToolCallResult {
  const next =
    job.status === "done"
      ? ` ${how("download", id, ctx)} saves it.`
      : ended(job)
        ? ""
        : ` To wait for it, give ${ctx.names.param("wait_ms")}.`;
  const text = `${id} ${inWords(job)}.${next}`;
  const failed = job.status === "failed" ? { errorDetail: "failed" } : {};
  return new ToolCallResult([{ type: "text", text }], { output: { videos: [rowOf(id, job)] }, ...failed });
}

function ended({ status }: VideoJob): boolean {
  return status !== "queued" && status !== "running";
}

function rowOf(id: string, { status, progress }: Omit<VideoJob, "id">): Row {
  return { id, status, ...(progress !== undefined && { progress }) };
}

/** How a command of this tool is called, as the model must write it. */
function how(command: string, id: string, { names }: ToolContext): string {
  return `${names.tool} { ${names.param("command")}: "${command}", ${names.param("id")}: "${id}" }`;
}
