// What it costs a compiler to know the types of thirty tools and of what they give; see types.mjs.
import { defineTool } from "@shedkit/tool";
import { Type } from "@sinclair/typebox";

export const readFile = defineTool({
  id: "readFile",
  kind: "read",
  description: "Reads a file.",
  input: Type.Object({
    path: Type.String(),
    offset: Type.Optional(Type.Integer()),
    limit: Type.Optional(Type.Integer()),
  }),
  output: Type.Object({ text: Type.String(), lines: Type.Integer(), cut: Type.Boolean() }),
  access: (input) => [{ action: "read", target: String(input.path) }],
  run: async (input) => {
    void input.path;
    return { text: "a", lines: 1, cut: true };
  },
});

export const writeFile = defineTool({
  id: "writeFile",
  kind: "write",
  description: "Writes a file.",
  input: Type.Object({ path: Type.String(), text: Type.String(), append: Type.Optional(Type.Boolean()) }),
  output: Type.Object({ bytes: Type.Integer(), created: Type.Boolean() }),
  access: (input) => [{ action: "read", target: String(input.path) }],
  run: async (input) => {
    void input.path;
    return { bytes: 1, created: true };
  },
});

export const editFile = defineTool({
  id: "editFile",
  kind: "edit",
  description: "Replaces a text in a file.",
  input: Type.Object({
    path: Type.String(),
    old: Type.String(),
    new: Type.String(),
    count: Type.Optional(Type.Integer()),
  }),
  output: Type.Object({ replaced: Type.Integer() }),
  access: (input) => [{ action: "read", target: String(input.path) }],
  run: async (input) => {
    void input.path;
    return { replaced: 1 };
  },
});

export const listFolder = defineTool({
  id: "listFolder",
  kind: "listDir",
  description: "Lists a folder.",
  input: Type.Object({
    path: Type.String(),
    depth: Type.Optional(Type.Integer()),
    hidden: Type.Optional(Type.Boolean()),
  }),
  output: Type.Object({
    entries: Type.Array(Type.Object({ name: Type.String(), size: Type.Integer(), folder: Type.Boolean() })),
  }),
  access: (input) => [{ action: "read", target: String(input.path) }],
  run: async (input) => {
    void input.path;
    return { entries: [{ name: "a", size: 1, folder: true }] };
  },
});

export const findFiles = defineTool({
  id: "findFiles",
  kind: "search",
  description: "Finds files by name.",
  input: Type.Object({
    pattern: Type.String(),
    root: Type.Optional(Type.String()),
    ignore: Type.Optional(Type.Array(Type.String())),
  }),
  output: Type.Object({ paths: Type.Array(Type.String()), cut: Type.Boolean() }),
  access: (input) => [{ action: "read", target: String(input.pattern) }],
  run: async (input) => {
    void input.pattern;
    return { paths: ["a"], cut: true };
  },
});

export const searchText = defineTool({
  id: "searchText",
  kind: "search",
  description: "Searches in files.",
  input: Type.Object({
    query: Type.String(),
    paths: Type.Optional(Type.Array(Type.String())),
    mode: Type.Optional(Type.Union([Type.Literal("plain"), Type.Literal("regex")])),
  }),
  output: Type.Object({
    hits: Type.Array(Type.Object({ path: Type.String(), line: Type.Integer(), text: Type.String() })),
  }),
  access: (input) => [{ action: "read", target: String(input.query) }],
  run: async (input) => {
    void input.query;
    return { hits: [{ path: "a", line: 1, text: "a" }] };
  },
});

export const deleteFile = defineTool({
  id: "deleteFile",
  kind: "delete",
  description: "Deletes a file.",
  input: Type.Object({ path: Type.String(), recursive: Type.Optional(Type.Boolean()) }),
  output: Type.Object({ deleted: Type.Integer() }),
  access: (input) => [{ action: "read", target: String(input.path) }],
  run: async (input) => {
    void input.path;
    return { deleted: 1 };
  },
});

export const moveFile = defineTool({
  id: "moveFile",
  kind: "edit",
  description: "Moves a file.",
  input: Type.Object({ from: Type.String(), to: Type.String(), overwrite: Type.Optional(Type.Boolean()) }),
  output: Type.Object({ moved: Type.Boolean() }),
  access: (input) => [{ action: "read", target: String(input.from) }],
  run: async (input) => {
    void input.from;
    return { moved: true };
  },
});

export const runCommand = defineTool({
  id: "runCommand",
  kind: "execute",
  description: "Runs a command.",
  input: Type.Object({
    command: Type.String(),
    args: Type.Optional(Type.Array(Type.String())),
    cwd: Type.Optional(Type.String()),
    timeoutMs: Type.Optional(Type.Integer()),
  }),
  output: Type.Object({ code: Type.Integer(), stdout: Type.String(), stderr: Type.String() }),
  access: (input) => [{ action: "read", target: String(input.command) }],
  run: async (input) => {
    void input.command;
    return { code: 1, stdout: "a", stderr: "a" };
  },
});

export const fetchPage = defineTool({
  id: "fetchPage",
  kind: "webFetch",
  description: "Fetches a page.",
  input: Type.Object({
    url: Type.String(),
    method: Type.Optional(Type.Union([Type.Literal("GET"), Type.Literal("HEAD")])),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  }),
  output: Type.Object({
    status: Type.Integer(),
    text: Type.String(),
    headers: Type.Record(Type.String(), Type.String()),
  }),
  access: (input) => [{ action: "read", target: String(input.url) }],
  run: async (input) => {
    void input.url;
    return { status: 1, text: "a", headers: {} };
  },
});

export const searchWeb = defineTool({
  id: "searchWeb",
  kind: "webSearch",
  description: "Searches the web.",
  input: Type.Object({
    query: Type.String(),
    count: Type.Optional(Type.Integer()),
    region: Type.Optional(Type.String()),
  }),
  output: Type.Object({
    results: Type.Array(Type.Object({ title: Type.String(), url: Type.String(), snippet: Type.String() })),
  }),
  access: (input) => [{ action: "read", target: String(input.query) }],
  run: async (input) => {
    void input.query;
    return { results: [{ title: "a", url: "a", snippet: "a" }] };
  },
});

export const currentTime = defineTool({
  id: "currentTime",
  kind: "other",
  description: "Tells the time.",
  input: Type.Object({ zone: Type.Optional(Type.String()) }),
  output: Type.Object({ iso: Type.String(), offset: Type.Number() }),
  access: (input) => [{ action: "read", target: String(input.zone) }],
  run: async (input) => {
    void input.zone;
    return { iso: "a", offset: 1.5 };
  },
});

export const convertUnits = defineTool({
  id: "convertUnits",
  kind: "other",
  description: "Converts units.",
  input: Type.Object({ value: Type.Number(), from: Type.String(), to: Type.String() }),
  output: Type.Object({ value: Type.Number() }),
  access: (input) => [{ action: "read", target: String(input.value) }],
  run: async (input) => {
    void input.value;
    return { value: 1.5 };
  },
});

export const weather = defineTool({
  id: "weather",
  kind: "other",
  description: "Tells the weather.",
  input: Type.Object({
    city: Type.String(),
    days: Type.Optional(Type.Integer()),
    units: Type.Optional(Type.Union([Type.Literal("metric"), Type.Literal("imperial")])),
  }),
  output: Type.Object({
    days: Type.Array(Type.Object({ date: Type.String(), low: Type.Number(), high: Type.Number() })),
  }),
  access: (input) => [{ action: "read", target: String(input.city) }],
  run: async (input) => {
    void input.city;
    return { days: [{ date: "a", low: 1.5, high: 1.5 }] };
  },
});

export const geocode = defineTool({
  id: "geocode",
  kind: "other",
  description: "Finds a place.",
  input: Type.Object({ query: Type.String(), country: Type.Optional(Type.String()) }),
  output: Type.Object({ lat: Type.Number(), lon: Type.Number(), name: Type.String() }),
  access: (input) => [{ action: "read", target: String(input.query) }],
  run: async (input) => {
    void input.query;
    return { lat: 1.5, lon: 1.5, name: "a" };
  },
});

export const route = defineTool({
  id: "route",
  kind: "other",
  description: "Finds a way.",
  input: Type.Object({
    from: Type.Object({ lat: Type.Number(), lon: Type.Number() }),
    to: Type.Object({ lat: Type.Number(), lon: Type.Number() }),
    by: Type.Optional(Type.Union([Type.Literal("car"), Type.Literal("foot"), Type.Literal("bike")])),
  }),
  output: Type.Object({ metres: Type.Number(), seconds: Type.Number(), steps: Type.Array(Type.String()) }),
  access: (input) => [{ action: "read", target: String(input.from) }],
  run: async (input) => {
    void input.from;
    return { metres: 1.5, seconds: 1.5, steps: ["a"] };
  },
});

export const sendMail = defineTool({
  id: "sendMail",
  kind: "other",
  description: "Sends a mail.",
  input: Type.Object({
    to: Type.Array(Type.String()),
    subject: Type.String(),
    body: Type.String(),
    cc: Type.Optional(Type.Array(Type.String())),
  }),
  output: Type.Object({ id: Type.String(), accepted: Type.Array(Type.String()) }),
  access: (input) => [{ action: "read", target: String(input.to) }],
  run: async (input) => {
    void input.to;
    return { id: "a", accepted: ["a"] };
  },
});

export const readMail = defineTool({
  id: "readMail",
  kind: "other",
  description: "Reads mails.",
  input: Type.Object({
    folder: Type.String(),
    unread: Type.Optional(Type.Boolean()),
    limit: Type.Optional(Type.Integer()),
  }),
  output: Type.Object({
    mails: Type.Array(Type.Object({ id: Type.String(), from: Type.String(), subject: Type.String() })),
  }),
  access: (input) => [{ action: "read", target: String(input.folder) }],
  run: async (input) => {
    void input.folder;
    return { mails: [{ id: "a", from: "a", subject: "a" }] };
  },
});

export const createEvent = defineTool({
  id: "createEvent",
  kind: "other",
  description: "Makes an appointment.",
  input: Type.Object({
    title: Type.String(),
    start: Type.String(),
    end: Type.String(),
    guests: Type.Optional(Type.Array(Type.String())),
  }),
  output: Type.Object({ id: Type.String(), link: Type.String() }),
  access: (input) => [{ action: "read", target: String(input.title) }],
  run: async (input) => {
    void input.title;
    return { id: "a", link: "a" };
  },
});

export const listEvents = defineTool({
  id: "listEvents",
  kind: "other",
  description: "Lists appointments.",
  input: Type.Object({ from: Type.String(), to: Type.String(), calendar: Type.Optional(Type.String()) }),
  output: Type.Object({
    events: Type.Array(Type.Object({ id: Type.String(), title: Type.String(), start: Type.String() })),
  }),
  access: (input) => [{ action: "read", target: String(input.from) }],
  run: async (input) => {
    void input.from;
    return { events: [{ id: "a", title: "a", start: "a" }] };
  },
});

export const queryTable = defineTool({
  id: "queryTable",
  kind: "other",
  description: "Asks a database.",
  input: Type.Object({
    sql: Type.String(),
    limit: Type.Optional(Type.Integer()),
    readOnly: Type.Optional(Type.Boolean()),
  }),
  output: Type.Object({
    columns: Type.Array(Type.String()),
    rows: Type.Array(Type.Record(Type.String(), Type.String())),
  }),
  access: (input) => [{ action: "read", target: String(input.sql) }],
  run: async (input) => {
    void input.sql;
    return { columns: ["a"], rows: [{}] };
  },
});

export const insertRows = defineTool({
  id: "insertRows",
  kind: "other",
  description: "Puts rows in a table.",
  input: Type.Object({
    table: Type.String(),
    rows: Type.Array(Type.Record(Type.String(), Type.String())),
    replace: Type.Optional(Type.Boolean()),
  }),
  output: Type.Object({ inserted: Type.Integer() }),
  access: (input) => [{ action: "read", target: String(input.table) }],
  run: async (input) => {
    void input.table;
    return { inserted: 1 };
  },
});

export const createIssue = defineTool({
  id: "createIssue",
  kind: "other",
  description: "Opens an issue.",
  input: Type.Object({
    title: Type.String(),
    body: Type.String(),
    labels: Type.Optional(Type.Array(Type.String())),
    priority: Type.Optional(Type.Union([Type.Literal("low"), Type.Literal("high")])),
  }),
  output: Type.Object({ number: Type.Integer(), url: Type.String() }),
  access: (input) => [{ action: "read", target: String(input.title) }],
  run: async (input) => {
    void input.title;
    return { number: 1, url: "a" };
  },
});

export const listIssues = defineTool({
  id: "listIssues",
  kind: "other",
  description: "Lists issues.",
  input: Type.Object({
    state: Type.Optional(Type.Union([Type.Literal("open"), Type.Literal("closed")])),
    label: Type.Optional(Type.String()),
    page: Type.Optional(Type.Integer()),
  }),
  output: Type.Object({
    issues: Type.Array(Type.Object({ number: Type.Integer(), title: Type.String(), open: Type.Boolean() })),
  }),
  access: (input) => [{ action: "read", target: String(input.state) }],
  run: async (input) => {
    void input.state;
    return { issues: [{ number: 1, title: "a", open: true }] };
  },
});

export const translate = defineTool({
  id: "translate",
  kind: "other",
  description: "Translates a text.",
  input: Type.Object({
    text: Type.String(),
    to: Type.String(),
    from: Type.Optional(Type.String()),
    formal: Type.Optional(Type.Boolean()),
  }),
  output: Type.Object({ text: Type.String(), detected: Type.String() }),
  access: (input) => [{ action: "read", target: String(input.text) }],
  run: async (input) => {
    void input.text;
    return { text: "a", detected: "a" };
  },
});

export const summarise = defineTool({
  id: "summarise",
  kind: "other",
  description: "Shortens a text.",
  input: Type.Object({
    text: Type.String(),
    words: Type.Optional(Type.Integer()),
    style: Type.Optional(Type.Union([Type.Literal("list"), Type.Literal("prose")])),
  }),
  output: Type.Object({ summary: Type.String(), words: Type.Integer() }),
  access: (input) => [{ action: "read", target: String(input.text) }],
  run: async (input) => {
    void input.text;
    return { summary: "a", words: 1 };
  },
});

export const drawChart = defineTool({
  id: "drawChart",
  kind: "other",
  description: "Draws a chart.",
  input: Type.Object({
    title: Type.String(),
    series: Type.Array(Type.Object({ name: Type.String(), values: Type.Array(Type.Number()) })),
    kind: Type.Union([Type.Literal("line"), Type.Literal("bar")]),
  }),
  output: Type.Object({ svg: Type.String(), width: Type.Integer(), height: Type.Integer() }),
  access: (input) => [{ action: "read", target: String(input.title) }],
  run: async (input) => {
    void input.title;
    return { svg: "a", width: 1, height: 1 };
  },
});

export const resizeImage = defineTool({
  id: "resizeImage",
  kind: "other",
  description: "Resizes an image.",
  input: Type.Object({
    path: Type.String(),
    width: Type.Integer(),
    height: Type.Optional(Type.Integer()),
    fit: Type.Optional(Type.Union([Type.Literal("cover"), Type.Literal("contain")])),
  }),
  output: Type.Object({ path: Type.String(), bytes: Type.Integer() }),
  access: (input) => [{ action: "read", target: String(input.path) }],
  run: async (input) => {
    void input.path;
    return { path: "a", bytes: 1 };
  },
});

export const remember = defineTool({
  id: "remember",
  kind: "memorySearch",
  description: "Remembers a fact.",
  input: Type.Object({
    fact: Type.String(),
    tags: Type.Optional(Type.Array(Type.String())),
    until: Type.Optional(Type.String()),
  }),
  output: Type.Object({ id: Type.String(), known: Type.Integer() }),
  access: (input) => [{ action: "read", target: String(input.fact) }],
  run: async (input) => {
    void input.fact;
    return { id: "a", known: 1 };
  },
});

export const askUser = defineTool({
  id: "askUser",
  kind: "askUser",
  description: "Asks the user.",
  input: Type.Object({
    question: Type.String(),
    choices: Type.Optional(Type.Array(Type.String())),
    several: Type.Optional(Type.Boolean()),
  }),
  output: Type.Object({ answers: Type.Array(Type.String()) }),
  access: (input) => [{ action: "read", target: String(input.question) }],
  run: async (input) => {
    void input.question;
    return { answers: ["a"] };
  },
});

export const done: Promise<{ text: string; lines: number; cut: boolean }> = readFile.call({ path: "a" });
