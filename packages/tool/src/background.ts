import { type Resource, resource } from "./resources.js";

/** Something that a tool started and that goes on by itself: a command, a sub-agent. */
export interface BackgroundTask {
  /** As the model knows it; unique in the session. */
  readonly id: string;
  readonly description: string;
  readonly running: boolean;
  /** How it stands, in a few words: `running`, `ended, exit 1`. */
  readonly status: string;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<void>;
  /** What it has written from a position on (0 is the beginning), and the position behind it. */
  output?(from: number): Promise<{ text: string; next: number }>;
  /** Ends it with all that it started. Absent where it cannot be ended so. */
  end?(): Promise<void>;
  /** Called when the model has been told that it ended, so that no reminder tells it again. */
  told?(): void;
}

/** The tasks of a session: each kind of tool that starts some lists them under its own name. */
export type BackgroundTasks = Map<string, () => readonly BackgroundTask[]>;

/** Where the tools of a session list what goes on in the background, for tools that wait for it. */
export const backgroundTasks: Resource<BackgroundTasks> = resource("backgroundTasks");
