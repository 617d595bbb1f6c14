import type { Tool } from "@shedkit/types";
import { describe, expect, test } from "vitest";
import { ToolDiscovery } from "../src/search/discovery.js";

function tool(name: string, category: string, description: string, args: { [name: string]: string } = {}): Tool {
  const properties = Object.fromEntries(
    Object.entries(args).map(([key, text]) => [key, { type: "string", description: text }]),
  );
  return {
    type: "single",
    definition: { name, category, description, arguments: { type: "object", properties } },
  };
}

const USUAL: Tool[] = [
  tool("read", "read", "Reads a file from the file system. Lines are numbered; use offset and limit for long files.", {
    path: "The file to read.",
    offset: "The first line.",
    limit: "How many lines.",
  }),
  tool("write", "write", "Writes a file, in place of what was there. Folders are made as needed.", {
    path: "The file to write.",
    content: "The whole new content.",
  }),
  tool("edit", "edit", "Replaces a text in a file by another. The old text must be unique in the file.", {
    path: "The file to change.",
    old_string: "The text to replace.",
    new_string: "The new text.",
  }),
  tool("list", "read", "Lists the files and folders in a folder.", { path: "The folder." }),
  tool("bash", "shell", "Runs a shell command and returns what it printed.", { command: "The command to run." }),
  tool("search_file", "search", "Searches the contents of files for a text or a pattern, or finds files by name.", {
    query: "What to look for.",
    paths: "The files or folders to search in.",
  }),
  tool("calculate", "math", "Evaluates an arithmetic expression and returns the number.", {
    expression: "The expression.",
  }),
  tool("memory", "memory", "Adds, removes or replaces facts to remember over the session.", { text: "The fact." }),
  tool("web_fetch", "web", "Fetches a page from the web and returns its text.", { url: "The address." }),
  tool("task", "agent", "Starts a helper that works on a task of its own.", { prompt: "The task." }),
];

function discoveryOf(tools: readonly Tool[]): ToolDiscovery {
  const discovery = new ToolDiscovery();
  for (const each of tools) discovery.add(each);
  return discovery;
}

async function namesFor(discovery: ToolDiscovery, query: string, limit = 5): Promise<string[]> {
  return (await discovery.search(query, limit)).map(({ name }) => name);
}

describe("short queries find the usual tools", () => {
  const discovery = discoveryOf(USUAL);
  test.each([
    ["read a file", "read"],
    ["write a file", "write"],
    ["edit a file", "edit"],
    ["run a command", "bash"],
    ["search in files", "search_file"],
    ["calculate a number", "calculate"],
    ["remember a fact", "memory"],
    ["list files", "list"],
    ["download a web page", "web_fetch"],
  ])("%s -> %s", async (query, name) => {
    expect((await namesFor(discovery, query))[0]).toBe(name);
  });
});

describe("however a query is written, it finds the same tool first", () => {
  const discovery = discoveryOf([
    ...USUAL,
    tool("reserve_table", "food", "Books a table at a restaurant or café.", { guests: "How many eat." }),
    tool("translate", "text", "Translates a text into another language."),
  ]);
  test.each([
    ["a typo", "reserv a tabel in a restaraunt", "reserve_table"],
    ["another typo", "tranlsate this", "translate"],
    ["accents left out", "a cafe", "reserve_table"],
    ["accents put in", "táble in a réstaurant", "reserve_table"],
    ["accents as characters of their own", "a cafe\u0301", "reserve_table"],
    ["capitals", "TRANSLATE A TEXT", "translate"],
    ["mixed case", "ReserveTable", "reserve_table"],
    ["a name with other joints", "search-file", "search_file"],
    ["a name in capitals", "WEB_FETCH", "web_fetch"],
  ])("%s: %s", async (_, query, name) => {
    expect((await namesFor(discovery, query))[0]).toBe(name);
  });
});

describe("where the words of a tool stand", () => {
  test("a word of the name weighs more than one of the description, and that more than one of an argument", async () => {
    const filler = "Does something with the things that are there.";
    const discovery = discoveryOf([
      tool("of_arguments", "c", filler, { thing: "An invoice that is there." }),
      tool("of_description", "c", "Does something with an invoice that is there."),
      tool("invoice_maker", "c", filler),
      tool("other", "c", filler),
    ]);
    expect(await namesFor(discovery, "invoice")).toEqual(["invoice_maker", "of_description", "of_arguments"]);
  });

  test("texts of nested arguments are searched", async () => {
    const nested: Tool = {
      type: "single",
      definition: {
        name: "order",
        category: "shop",
        description: "Places an order.",
        arguments: {
          type: "object",
          properties: {
            lines: {
              type: "array",
              items: {
                type: "object",
                properties: { wrapping: { type: "object", properties: { ribbon: { description: "Its colour." } } } },
              },
            },
          },
        },
      },
    };
    const discovery = discoveryOf([...USUAL, nested]);
    expect((await namesFor(discovery, "ribbon"))[0]).toBe("order");
    expect((await namesFor(discovery, "colour"))[0]).toBe("order");
  });
});
