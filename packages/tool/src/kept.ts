import { type Resource, resource } from "./resources.js";

/** Keeps results that are too long for a prompt, so that a tool can read on in them. */
export interface KeptResults {
  /** Keeps a text and returns its handle, which a `read` tool takes in place of a path. */
  keep(callId: string, text: string): string;
  /** The whole text; undefined for an unknown handle, or one whose text had to make room. */
  get(handle: string): string | undefined;
}

/** Where the tools of a session find the kept results. */
export const keptResults: Resource<KeptResults> = resource("keptResults");
