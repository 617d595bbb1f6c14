import type { FileSystem } from "@shedkit/fs";
import { ToolPreset } from "@shedkit/harness";
import { ToolShed } from "@shedkit/shed";
import type { ToolConstructor } from "@shedkit/tool";
import type { OwnFolders } from "./own-folders.js";
import type { Clients } from "./services.js";
import type { SessionTools } from "./session.js";
import { TOOL_GROUPS, type ToolGroup } from "./settings.js";

interface Place {
  fs: FileSystem;
  root: string;
  own: OwnFolders;
  clients: Clients;
}

/** The tools of a session over a folder: what the model can use, the settings leave, and the permission allows. */
export function shedOf(place: Place, options: SessionTools): ToolShed {
  const { choice, readOnly, settings } = options;
  const toolSet = settings?.toolSet.value;
  const groups = groupsOf(options);
  const tools = groups.flatMap((group) => [...toolsOf(group, place, options, groups)]);
  const shed = new ToolShed().tools(tools.filter(({ name }) => !choice.without?.includes(name)));
  if (readOnly) return shed.configure({ tools: [], ...toolSet, capability: "readOnly" });
  return toolSet ? shed.configure(toolSet) : shed;
}

/** Without those that have nothing to do here: nobody to ask, no plan to carry out, nothing to wait for. */
function groupsOf({ choice, readOnly, unattended, background, settings }: SessionTools): readonly ToolGroup[] {
  const useless = new Set<ToolGroup>();
  if (unattended) useless.add("questions").add("plan");
  if (readOnly) useless.add("plan").add("shell").add("agents");
  if (background === false) useless.add("background");
  const groups = (choice.groups ?? TOOL_GROUPS).filter((group) => {
    return settings?.tools.value[group] !== false && !useless.has(group);
  });
  const runs = groups.includes("shell") || groups.includes("agents");
  return runs ? groups : groups.filter((group) => group !== "background");
}

function toolsOf(
  group: ToolGroup,
  { fs, root, own, clients }: Place,
  { choice: { files }, background }: SessionTools,
  groups: readonly ToolGroup[],
): Iterable<ToolConstructor> {
  switch (group) {
    case "files":
      return ToolPreset.files(fs, files);
    case "changes":
      return ToolPreset.fileChanges(fs);
    case "shell":
      return ToolPreset.shell({ cwd: root, ...(background === false && { bash: { enabledBackground: false } }) });
    case "search":
      return ToolPreset.searchFiles(fs);
    case "memory":
      return ToolPreset.sessionMemory().merge(ToolPreset.searchContext());
    case "todo":
      return ToolPreset.todo();
    case "web":
      return ToolPreset.webFetch().merge(clients.search ? ToolPreset.webSearch(clients.search) : []);
    case "media":
      return ToolPreset.media(fs, clients);
    case "questions":
      return ToolPreset.askUser();
    case "plan":
      return ToolPreset.planMode({ holds: "changes" });
    case "agents":
      return ToolPreset.agent();
    case "background":
      return ToolPreset.background({ commands: groups.includes("shell") });
    case "skills":
      return own.skills.length > 0 ? ToolPreset.skills(own.skills) : [];
    case "notes":
      return own.notes ? ToolPreset.notes(own.notes) : [];
  }
}
