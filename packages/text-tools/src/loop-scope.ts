/** The part of a parsed template that says where variables are set. */
interface Node {
  readonly type: string;
  readonly value?: unknown;
  readonly body?: readonly Node[];
  readonly alternate?: readonly Node[];
  readonly defaultBlock?: readonly Node[];
  readonly assignee?: Node;
  readonly loopvar?: Node;
}

/** What has variables of its own: what is set inside is not seen outside. */
const OWN_SCOPE = new Set(["For", "Macro", "CallStatement"]);

/**
 * A parsed template whose loops forget at each turn what was set in the turn before, as Jinja's do; those of our engine
 * remember it, so that a message without thoughts would be told with those of an earlier one. A loop begins each turn
 * with the variables as they were before it.
 */
export function withLoopScopes<T extends Node>(body: readonly T[]): T[] {
  let loops = 0;

  const copied = (nodes: readonly Node[]): Node[] => nodes.flatMap(copiedNode);

  const copiedNode = (node: Node): Node[] => {
    const { body, alternate, defaultBlock } = node;
    const copy: Node = {
      ...node,
      ...(Array.isArray(body) && { body: copied(body) }),
      ...(Array.isArray(alternate) && { alternate: copied(alternate) }),
      ...(Array.isArray(defaultBlock) && { defaultBlock: copied(defaultBlock) }),
    };
    if (node.type !== "For") return [copy];
    const loop = ++loops;
    const before = (name: string) => `${name} before loop ${loop}`; // no template can name it
    const names = namesSet(body ?? []);
    for (const name of node.loopvar ? addNames(node.loopvar, new Set()) : []) names.delete(name); // new at each turn
    return [
      ...[...names].map((name) => set(before(name), name)),
      { ...copy, body: [...[...names].map((name) => set(name, before(name))), ...(copy.body ?? [])] },
    ];
  };

  return copied(body) as T[];
}

function set(name: string, from: string): Node {
  const identifier = (value: string): Node => ({ type: "Identifier", value });
  return { type: "Set", assignee: identifier(name), value: identifier(from), body: [] };
}

/** The variables that are set among these nodes, in no scope of their own. */
function namesSet(nodes: readonly Node[], names = new Set<string>()): Set<string> {
  for (const { type, assignee, body, alternate } of nodes) {
    if (type === "Set" && assignee) addNames(assignee, names);
    if (OWN_SCOPE.has(type)) continue;
    namesSet(body ?? [], names);
    namesSet(alternate ?? [], names);
  }
  return names;
}

function addNames({ type, value }: Node, names: Set<string>): Set<string> {
  if (type === "Identifier" && typeof value === "string") names.add(value);
  if (type === "TupleLiteral" && Array.isArray(value)) for (const part of value as Node[]) addNames(part, names);
  return names;
}
