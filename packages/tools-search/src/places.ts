import { cleanPath, type FileSystem, isFsError, locate, quote } from "@shedkit/fs";
import { type AccessRequest, ToolCallResult, type ToolContext, ToolError } from "@shedkit/tool";
import { isGlob } from "./glob.js";

/** What is to be searched. */
export interface Place {
  path: string;
  isFolder: boolean;
}

/** What stands at a path that a model wrote; a failed result where nothing does. Throws ToolError for what is out of reach. */
export async function placeOf(
  fs: FileSystem,
  given: string,
  param: string,
  ctx: ToolContext,
): Promise<Place | ToolCallResult> {
  try {
    const { path, stat } = await locate(fs, cleanPath(given), ctx.signal);
    return { path, isFolder: stat.type === "directory" };
  } catch (error) {
    if (!isFsError(error)) throw error;
    const { reason } = error.details;
    if (reason === "notFound") {
      if (param === "paths" && isGlob(given)) {
        const text = `${quote(given)} is no file or folder. Give a pattern as ${ctx.names.param("glob")}.`;
        return ToolCallResult.failure(`no such file: ${quote(given)}`, text);
      }
      const lister = ctx.names.toolOf("listDir");
      const text = `There is no file or folder ${quote(given)} to search. List its parent folder${lister === undefined ? "" : ` with ${lister}`}, or leave out ${ctx.names.param(param)}.`;
      return ToolCallResult.failure(`no such file: ${quote(given)}`, text);
    }
    if (reason === "outside" || reason === "permission") {
      throw new ToolError("permissionDenied", ctx.names.tool, error.message, { cause: error });
    }
    if (reason === "io") throw new ToolError("execution", ctx.names.tool, error.message, { cause: error });
    return ToolCallResult.failure(`${reason}: ${quote(given)}`, error.message);
  }
}

/** For `access`: what is read. */
export function accessTo(fs: FileSystem, paths: readonly string[] | undefined): readonly AccessRequest[] {
  return (paths === undefined || paths.length === 0 ? ["."] : paths).map((path) => {
    const clean = cleanPath(path);
    try {
      const relative = fs.resolve(clean);
      const root = fs.root.endsWith("/") ? fs.root.slice(0, -1) : fs.root;
      return { action: "read", target: relative === "." ? fs.root : `${root}/${relative}` };
    } catch (error) {
      if (isFsError(error)) return { action: "read", target: clean }; // refused when the call runs
      throw error;
    }
  });
}
