import type { SessionInfo } from "@shedkit/store";

/** A session that was kept, and the folder it was about. */
export type KeptSession = SessionInfo & { root: string | undefined };

/** A session on one line. */
export function sessionLine({ id, title, updatedAt, root }: KeptSession, withRoot: boolean): string {
  const minute = new Date(updatedAt).toISOString().slice(0, 16).replace("T", " ");
  const line = `${id}  ${minute}  ${title ?? "(no title)"}`;
  return withRoot && root !== undefined ? `${line}   ${root}` : line;
}
