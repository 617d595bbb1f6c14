import { stat } from "node:fs/promises";
import path from "node:path";
import { NodeFileSystem } from "@shedkit/fs/node";
import type { NoteStore, SkillFolder } from "@shedkit/harness";

/** What people have written for their sessions: instructions for work of one kind, and notes that outlive sessions. */
export interface OwnFolders {
  /** Earlier ones win. */
  skills: readonly SkillFolder[];
  notes: NoteStore | undefined;
}

/**
 * Skills are in `.answerme/skills` of the project, and beside a person's own settings, in `skills`; notes are there in
 * `notes`. What is not there is left out.
 */
export async function ownFolders(root: string, own: string | undefined): Promise<OwnFolders> {
  const project = path.join(root, ".answerme", "skills");
  const skills: SkillFolder[] = [];
  if (await isFolder(project))
    skills.push({ name: "project", fs: new NodeFileSystem(root), folder: ".answerme/skills" });
  if (own === undefined) return { skills, notes: undefined };
  if (await isFolder(path.join(own, "skills"))) {
    skills.push({ name: "user", fs: new NodeFileSystem(own), folder: "skills" });
  }
  return { skills, notes: await notesIn(own) };
}

async function notesIn(own: string): Promise<NoteStore | undefined> {
  if (!(await isFolder(path.join(own, "notes")))) return undefined;
  const { fileNotes } = await import("@shedkit/tools-memory");
  return fileNotes(new NodeFileSystem(own), { folder: "notes" });
}

async function isFolder(folder: string): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  return found?.isDirectory() === true;
}
