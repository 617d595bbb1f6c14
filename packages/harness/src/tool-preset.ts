import type { FileSystem } from "@shedkit/fs";
import { ToolCallManager, ToolShedError } from "@shedkit/shed";
import { isToolConstructor, type ToolConstructor, type ToolImpl } from "@shedkit/tool";
import { type MemoryAccess, type SessionId, toolName } from "@shedkit/types";
import { type AgentPresetOptions, agentTools } from "./agent-preset.js";
import { type FileChangesPresetOptions, type FilesPresetOptions, fileChangeTools, fileTools } from "./files-preset.js";
import { type HashlinePresetOptions, hashlineTools } from "./hashline-preset.js";
import { type LspPresetOptions, type LspServer, lspTools } from "./lsp-preset.js";
import { type MediaPresetOptions, mediaTools } from "./media-preset.js";
import {
  type MemoryPresetOptions,
  memoryTools,
  type NoteStore,
  type NotesPresetOptions,
  noteTools,
  sessionMemoryTools,
} from "./memory-preset.js";
import { readyMadeParts } from "./ready-made.js";
import {
  type GlobPresetOptions,
  globTools,
  type SearchFilesPresetOptions,
  searchContextTools,
  searchFileTools,
} from "./search-preset.js";
import { type ShellPresetOptions, shellTools, shellToolsBeside } from "./shell-preset.js";
import { type SkillFolder, type SkillsPresetOptions, skillTools } from "./skills-preset.js";
import {
  type AskUserPresetOptions,
  askUserTools,
  type BackgroundPresetOptions,
  backgroundTools,
  type PlanModePresetOptions,
  planTools,
  type SchedulesLike,
  scheduleTools,
  todoTools,
} from "./task-preset.js";
import {
  type WebFetchPresetOptions,
  type WebSearcher,
  type WebSearchPresetOptions,
  webFetchTools,
  webSearchTools,
} from "./web-preset.js";

/** Settings of {@link ToolPreset.minimalSubAgent}: those of its presets. */
export interface SubAgentPresetOptions {
  files?: FilesPresetOptions | undefined;
  /** A `cwd` is needed where the file system is no `NodeFileSystem`: commands run on this machine's disk all the same. */
  shell?: ShellPresetOptions | undefined;
}

/** Settings of {@link ToolPreset.standard}, likewise. */
export interface StandardPresetOptions extends SubAgentPresetOptions {
  memory?: MemoryPresetOptions | undefined;
}

/**
 * A list of tools to give to a shed: `new ToolShed().tools(ToolPreset.files(fs))`. Making and iterating one imports
 * nothing; a tool's package is imported when the session is built. What tools have to tell after calls of others,
 * such as errors after an edit, comes with them.
 */
export class ToolPreset implements Iterable<ToolConstructor> {
  readonly #constructors: readonly ToolConstructor[];

  private constructor(constructors: readonly ToolConstructor[]) {
    this.#constructors = constructors;
  }

  /** `read`, `write`, `edit` and `list` over a file system. Needs `@shedkit/tools-files`. */
  static files(fs: FileSystem, options: FilesPresetOptions = {}): ToolPreset {
    return new ToolPreset(fileTools(fs, options));
  }

  /** `multi_edit`, `apply_patch`, `delete` and `move` over a file system. Needs `@shedkit/tools-files`. */
  static fileChanges(fs: FileSystem, options: FileChangesPresetOptions = {}): ToolPreset {
    return new ToolPreset(fileChangeTools(fs, options));
  }

  /**
   * `hashline_read`, `hashline_grep` and `hashline_edit` over a file system: by anchors of lines, in place of `read`,
   * `edit` and `search_file`, which a session cannot have beside them. Needs `@shedkit/tools-hashline`.
   */
  static hashline(fs: FileSystem, options: HashlinePresetOptions = {}): ToolPreset {
    return new ToolPreset(hashlineTools(fs, options));
  }

  /**
   * `bash` on this machine, with `task_output` and `task_kill` for what it runs in the background. Needs
   * `@shedkit/tools-shell`. What sessions run ends with this program at the latest.
   */
  static shell(options: ShellPresetOptions = {}): ToolPreset {
    return new ToolPreset(shellTools(options));
  }

  /** `search_file` over a file system. Needs `@shedkit/tools-search`. */
  static searchFiles(fs: FileSystem, options: SearchFilesPresetOptions = {}): ToolPreset {
    return new ToolPreset(searchFileTools(fs, options));
  }

  /**
   * `glob` over a file system, for models that know such a tool: `search_file` finds files by a pattern, too. Needs
   * `@shedkit/tools-search`.
   */
  static glob(fs: FileSystem, options: GlobPresetOptions = {}): ToolPreset {
    return new ToolPreset(globTools(fs, options));
  }

  /**
   * `lsp` over language servers, by a name each, for a folder of this machine. Needs `@shedkit/tools-lsp`. The
   * servers start when they are needed and end with the sessions that use them. A session that is built with it is
   * told of the errors that its changes make.
   */
  static lsp(
    fs: FileSystem,
    servers: { readonly [name: string]: LspServer },
    options: LspPresetOptions = {},
  ): ToolPreset {
    return new ToolPreset(lspTools(fs, servers, options));
  }

  /** `search_context` over the session's own context. Needs `@shedkit/tools-search`. */
  static searchContext(): ToolPreset {
    return new ToolPreset(searchContextTools());
  }

  /** `memory` over a given memory. Needs `@shedkit/tools-memory`. */
  static memory(memory: MemoryAccess, options: MemoryPresetOptions = {}): ToolPreset {
    return new ToolPreset(memoryTools(memory, options));
  }

  /** `memory` over the session's own facts. Needs `@shedkit/tools-memory`. */
  static sessionMemory(options: MemoryPresetOptions = {}): ToolPreset {
    return new ToolPreset(sessionMemoryTools(options));
  }

  /** `memory_search` and `memory_get` over notes that outlive sessions. Needs `@shedkit/tools-memory`. */
  static notes(notes: NoteStore, options: NotesPresetOptions = {}): ToolPreset {
    return new ToolPreset(noteTools(notes, options));
  }

  /**
   * `agent`, which gives work to sub-agents of the session; how many and how deep is said by its `withChildren`. The
   * session is told of those that have ended. Needs `@shedkit/tools-agent`.
   */
  static agent(options: AgentPresetOptions = {}): ToolPreset {
    return new ToolPreset(agentTools(options));
  }

  /** `todo`, a list of what is to be done. Needs `@shedkit/tools-task`. */
  static todo(): ToolPreset {
    return new ToolPreset(todoTools());
  }

  /** `ask_user`, for programs that answer `approvalRequested` with `asks`. Needs `@shedkit/tools-task`. */
  static askUser(options: AskUserPresetOptions = {}): ToolPreset {
    return new ToolPreset(askUserTools(options));
  }

  /** `enter_plan` and `exit_plan`, for programs that answer likewise. Needs `@shedkit/tools-task`. */
  static planMode(options: PlanModePresetOptions = {}): ToolPreset {
    return new ToolPreset(planTools(options));
  }

  /**
   * `wait` and `monitor` for what {@link shell} and {@link agent} run in the background; where there is a shell, `monitor` has it
   * start commands, too, and the session is told what these write. Needs `@shedkit/tools-task`.
   */
  static background(options: BackgroundPresetOptions = {}): ToolPreset {
    return new ToolPreset(backgroundTools(options));
  }

  /** `schedule` over the `Schedules` of one session, which the program starts. Needs `@shedkit/tools-task`. */
  static schedule(schedules: SchedulesLike): ToolPreset {
    return new ToolPreset(scheduleTools(schedules));
  }

  /** `web_fetch` on the public web. Needs `@shedkit/tools-web`. */
  static webFetch(options: WebFetchPresetOptions = {}): ToolPreset {
    return new ToolPreset(webFetchTools(options));
  }

  /** `web_search` by a client, such as `searxng(...)` of `@shedkit/tools-web`, which it needs. */
  static webSearch(client: WebSearcher, options: WebSearchPresetOptions = {}): ToolPreset {
    return new ToolPreset(webSearchTools(client, options));
  }

  /**
   * `image_gen` and `video`, each where its client is given; they save in a file system. Needs
   * `@shedkit/tools-media`, which has clients too.
   */
  static media(fs: FileSystem, options: MediaPresetOptions): ToolPreset {
    return new ToolPreset(mediaTools(fs, options));
  }

  /**
   * `skill` over folders of skills; earlier ones win. A session that is built with it is told of the skills for the
   * files that it works on. Needs `@shedkit/tools-skills`.
   */
  static skills(scopes: readonly SkillFolder[], options: SkillsPresetOptions = {}): ToolPreset {
    return new ToolPreset(skillTools(scopes, options));
  }

  /**
   * What a sub-agent needs: {@link files} and {@link shell}, which begins in the folder of `fs`. Over a file system that
   * is no `NodeFileSystem`, such as an overlay, a shell would run past it, on this machine's disk: throws TypeError there,
   * unless the settings say where (`{ shell: { cwd } }`). Without a shell: {@link files}.
   */
  static minimalSubAgent(fs: FileSystem, options: SubAgentPresetOptions = {}): ToolPreset {
    return new ToolPreset(filesAndShell(fs, options, "ToolPreset.minimalSubAgent"));
  }

  /** As {@link minimalSubAgent}, which says what it throws, and {@link sessionMemory}. */
  static standard(fs: FileSystem, { memory = {}, ...options }: StandardPresetOptions = {}): ToolPreset {
    const beside = filesAndShell(fs, options, "ToolPreset.standard");
    return new ToolPreset([...beside, ...sessionMemoryTools(memory)]);
  }

  /** Tools of your own: constructors, or ready ones such as those of MCP servers. */
  static fromConstructors(list: Iterable<ToolConstructor | ToolImpl>): ToolPreset {
    return new ToolPreset(Array.from(list, asConstructor));
  }

  /** The tools of both, these first. A name that both have is refused when the shed is built. */
  merge(other: Iterable<ToolConstructor | ToolImpl>): ToolPreset {
    return new ToolPreset([...this.#constructors, ...Array.from(other, asConstructor)]);
  }

  [Symbol.iterator](): Iterator<ToolConstructor> {
    return this.#constructors[Symbol.iterator]();
  }

  /**
   * Adds the tools to a running session, without what they tell after calls of other tools: all of them, or none where it
   * throws. Throws ToolShedError `needsSession` where one can only be built with it, and what `register` of the manager
   * does, e.g. for a name that is taken.
   */
  async registerAll(manager: ToolCallManager): Promise<void> {
    const added: string[] = [];
    try {
      for (const tool of await this.asChildTools()) {
        manager.register(tool);
        added.push(toolName(tool.definition()));
      }
    } catch (cause) {
      for (const name of added.reverse()) manager.deregister(name);
      throw cause;
    }
  }

  /** The tools, ready-made, e.g. for a sub-agent. Throws ToolShedError `needsSession`, naming all that need one. */
  async asChildTools(): Promise<ToolImpl[]> {
    const problems = this.#constructors
      .filter((tool) => tool.needsSession)
      .map(({ name }) => ({ type: "needsSession" as const, name }));
    if (problems.length > 0) throw new ToolShedError(problems);
    return Promise.all(this.#constructors.map((tool) => tool.construct(readyMadeParts)));
  }

  /** A fresh manager that holds the tools. Throws ToolShedError `needsSession`. */
  async intoManager(sessionId: SessionId): Promise<ToolCallManager> {
    const manager = new ToolCallManager(sessionId);
    await this.registerAll(manager);
    return manager;
  }
}

function filesAndShell(
  fs: FileSystem,
  { files = {}, shell = {} }: SubAgentPresetOptions,
  owner: string,
): ToolConstructor[] {
  return [...fileTools(fs, files), ...shellToolsBeside(fs, shell, owner)];
}

function asConstructor(tool: ToolConstructor | ToolImpl): ToolConstructor {
  if (isToolConstructor(tool)) return tool;
  return { name: toolName(tool.definition()), needsSession: false, construct: () => tool };
}
