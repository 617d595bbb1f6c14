import type { FileSystem } from "@shedkit/fs";
import type { ToolConstructor } from "@shedkit/tool";
import type { NodeTerminal } from "@shedkit/tools-shell/node";
import { given, type Settings } from "./given.js";
import { lazyReminder } from "./lazy-reminder.js";
import { optionalPeer } from "./optional-peer.js";
import { realFolder } from "./real-folder.js";

/** Settings of the shell tools, as `@shedkit/tools-shell` describes them. What is absent is its default. */
export interface ShellPresetOptions {
  /** The folder where commands begin. Default: the current one. */
  cwd?: string | undefined;
  /** The variables that commands see, secrets aside. Default: `process.env`. */
  env?: { readonly [name: string]: string | undefined } | undefined;
  /** Names of variables that commands see although they look like secrets; patterns too. Default: none. */
  keepVariables?: readonly string[] | undefined;
  /** Which others of `env` commands see, and what besides. Default: all but secrets. */
  variables?:
    | {
        inherit?: "all" | "core" | "none" | undefined;
        exclude?: readonly string[] | undefined;
        set?: { readonly [name: string]: string } | undefined;
        includeOnly?: readonly string[] | undefined;
      }
    | undefined;
  /** Path of the shell. Default: bash where it is, else `/bin/sh`. */
  shell?: string | undefined;
  /** The folder in which a private one for the logs is made. Default: the system's folder for temporary files. */
  logFolder?: string | undefined;
  /** A command whose log grows longer is ended, in bytes. Default: 5 GiB. */
  maxLogBytes?: number | undefined;
  /** How long a command that ended waits for what it left in the background, in milliseconds. Default: 1000. */
  graceMs?: number | undefined;
  /** How long a process has between being asked to end and being forced, in milliseconds. Default: 1000. */
  killMs?: number | undefined;
  /** Runs commands in bubblewrap, on Linux: nothing written outside some folders, no network. Default: no sandbox. */
  sandbox?:
    | {
        writable?: readonly string[] | undefined;
        hidden?: readonly string[] | undefined;
        network?: boolean | undefined;
      }
    | undefined;
  bash?:
    | Settings<{
        enabledBackground: boolean;
        maxTimeoutMs: number;
        backgroundOnTimeout: boolean;
        backgroundAfterMs: number;
        backgroundOperator: boolean;
        backgroundInput: boolean;
        commandPrefix: string;
        maxOutputChars: number;
      }>
    | undefined;
  task_output?: Settings<{ maxOutputChars: number }> | undefined;
}

/** The shell tools as constructors that import their package when they are asked for a tool. They share a terminal. */
export function shellTools({ bash: settings, task_output, ...place }: ShellPresetOptions): ToolConstructor[] {
  const name = "@shedkit/tools-shell";
  const tools = () => optionalPeer(name, () => import("@shedkit/tools-shell"));
  let made: Promise<NodeTerminal> | undefined;
  const terminal = (): Promise<NodeTerminal> => {
    made ??= optionalPeer(name, () => import("@shedkit/tools-shell/node")).then(
      ({ NodeTerminal }) => new NodeTerminal(place),
    );
    return made;
  };
  const bash: ToolConstructor = {
    name: "bash",
    needsSession: false,
    construct: async () => (await tools()).bashTool(await terminal(), given(settings)),
  };
  if (settings?.enabledBackground === false) return [bash];
  const input: ToolConstructor = {
    name: "task_input",
    needsSession: false,
    construct: async () => (await tools()).taskInputTool(await terminal()),
  };
  return [
    bash,
    {
      name: "task_output",
      needsSession: false,
      reminders: [lazyReminder({ id: "tasks-ended" }, async () => (await tools()).tasksReminder())],
      construct: async () => (await tools()).taskOutputTool(await terminal(), given(task_output)),
    },
    {
      name: "task_kill",
      needsSession: false,
      construct: async () => (await tools()).taskKillTool(await terminal()),
    },
    ...(settings?.backgroundInput ? [input] : []),
  ];
}

/**
 * The shell tools beside the file tools of `fs`: they begin in its folder. Over a file system without one, such as an
 * overlay, commands would run on the disk that it keeps from the model, so somebody must have wished for that: throws
 * TypeError, in the name of `owner`, where no `cwd` is given.
 */
export function shellToolsBeside(fs: FileSystem, options: ShellPresetOptions, owner: string): ToolConstructor[] {
  const cwd = options.cwd ?? realFolder(fs);
  if (cwd !== undefined) return shellTools({ ...options, cwd });
  throw new TypeError(
    `${owner}: the file system is no NodeFileSystem, and bash would run on the disk of this machine, outside of it. ` +
      "To want that, say in which folder: { shell: { cwd } }. For commands that run elsewhere, merge ToolPreset.files(fs) " +
      "with shellTools(terminal) of @shedkit/tools-shell; for none, take ToolPreset.files(fs) alone.",
  );
}
