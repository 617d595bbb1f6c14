import type { FileSystem } from "@shedkit/fs";
import { ToolPreset } from "@shedkit/harness";
import { ToolShed } from "@shedkit/shed";
import type { ToolConstructor } from "@shedkit/tool";
import type { SessionTools } from "./session.js";
import { TOOL_GROUPS, type ToolGroup } from "./settings.js";

/** The tools of a session over a folder: what the model can use, the settings leave, and the permission allows. */
export function shedOf(fs: FileSystem, root: string, { choice, readOnly, settings }: SessionTools): ToolShed {
  const { toolSet, tools: off } = settings ?? {};
  const groups = (choice.groups ?? TOOL_GROUPS).filter((group) => off?.value[group] !== false);
  const tools = groups.flatMap((group) => [...toolsOf(group, fs, root, choice)]);
  const shed = new ToolShed().tools(tools.filter(({ name }) => !choice.without?.includes(name)));
  if (readOnly) return shed.configure({ tools: [], ...toolSet?.value, capability: "readOnly" });
  return toolSet?.value ? shed.configure(toolSet.value) : shed;
}

function toolsOf(
  group: ToolGroup,
  fs: FileSystem,
  root: string,
  { files }: SessionTools["choice"],
): Iterable<ToolConstructor> {
  switch (group) {
    case "files":
      return ToolPreset.files(fs, files);
    case "changes":
      return ToolPreset.fileChanges(fs);
    case "shell":
      return ToolPreset.shell({ cwd: root });
    case "search":
      return ToolPreset.searchFiles(fs);
    case "memory":
      return ToolPreset.sessionMemory().merge(ToolPreset.searchContext());
    case "todo":
      return ToolPreset.todo();
    case "web":
      return ToolPreset.webFetch();
  }
}
