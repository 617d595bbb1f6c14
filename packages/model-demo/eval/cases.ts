/** A question, or several in one session, about the files of a project in `projects`. */
export interface EvalCase {
  skill: string;
  /** A folder in `projects`. Default: an empty folder. */
  project?: "shop" | "weather" | "garden" | "toolkit";
  /** In place of a project's. */
  files?: { readonly [path: string]: string };
  /** Said before, in turns of their own; what comes of them does not count. */
  before?: readonly string[];
  ask: string;
  /** What the answer must say, each as a word of its own. */
  says?: readonly string[];
  /** The very answer that is wanted. */
  exactly?: string;
  /** Nothing can be found: the answer must say so. */
  absent?: true;
  /** It is beyond the model: the answer must say so. */
  beyond?: true;
  /** What files must hold afterwards. */
  holds?: { readonly [path: string]: string };
  /** What must be in a file afterwards, and what must not be. */
  changed?: { path: string; has: string; not: string };
  /** What must be remembered. */
  remembers?: string;
}

/**
 * Written before the model was trained, and not looked at while it was tuned. To be right an answer must say what is
 * there; where nothing is there, or the question is beyond the model, it must say that.
 */
export const CASES: readonly EvalCase[] = [
  // Values of package.json files; those of `toolkit` are real ones.
  { skill: "package.json", project: "shop", ask: "What is the version in package.json?", says: ["3.8.2"] },
  { skill: "package.json", project: "shop", ask: "What's the license in package.json?", says: ["UNLICENSED"] },
  { skill: "package.json", project: "shop", ask: "Which version of react does package.json have?", says: ["19.1.0"] },
  {
    skill: "package.json",
    project: "shop",
    ask: "what is the name in package.json",
    says: ["@brightbasket/storefront"],
  },
  {
    skill: "package.json",
    project: "shop",
    ask: "What is the test script in package.json?",
    says: ["vitest run --coverage"],
  },
  { skill: "package.json", project: "shop", ask: "Who is the author in package.json?", says: ["Marta Lindqvist"] },
  { skill: "package.json", project: "shop", ask: "Look in package.json: what is main?", says: ["dist/server.js"] },
  { skill: "package.json", project: "toolkit", ask: "What is the version of vitest in package.json?", says: ["5.1.2"] },
  {
    skill: "package.json",
    project: "toolkit",
    ask: "What is the name in packages/harness/package.json?",
    says: ["@shedkit/harness"],
  },
  { skill: "package.json", project: "toolkit", ask: "What does package.json say about the license?", says: ["MIT"] },
  {
    skill: "package.json",
    project: "toolkit",
    ask: "What is the bench script in package.json?",
    says: ["node bench/run.mjs"],
  },
  {
    skill: "package.json",
    project: "toolkit",
    ask: "Read packages/shed/package.json and tell me the description.",
    says: ["ToolShed and the shed tool"],
  },
  {
    skill: "package.json",
    project: "toolkit",
    ask: "Which version of typescript is in package.json?",
    says: ["7.0.2"],
  },
  // JSON.
  { skill: "json", project: "garden", ask: "What is the soil in beds.json?", says: ["sandy loam"] },
  { skill: "json", project: "garden", ask: "Who is the owner in beds.json?", says: ["Ines Carvalho"] },
  { skill: "json", project: "garden", ask: "What is the lastFrost in beds.json?", says: ["2026-04-22"] },
  { skill: "json", project: "garden", ask: "Tell me the ph from beds.json.", says: ["6.4"] },
  { skill: "json", project: "garden", ask: "beds.json: what is rotationYears?", says: ["4"] },
  { skill: "json", project: "garden", ask: "What value does litresPerHour have in beds.json?", says: ["38"] },
  { skill: "json", project: "toolkit", ask: "What is the target in tsconfig.base.json?", says: ["ES2023"] },
  { skill: "json", project: "toolkit", ask: "What is lineWidth set to in biome.json?", says: ["120"] },
  // INI.
  { skill: "ini", project: "weather", ask: "What is the interval in stations.ini?", says: ["300"] },
  { skill: "ini", project: "weather", ask: "What is the unit in stations.ini?", says: ["metric"] },
  { skill: "ini", project: "weather", ask: "What is the gust_limit in stations.ini?", says: ["24.5"] },
  { skill: "ini", project: "weather", ask: "Please find the calibration in stations.ini.", says: ["2025-09-18"] },
  { skill: "ini", project: "weather", ask: "What are the quiet_hours in stations.ini?", says: ["22:00-06:00"] },
  { skill: "ini", project: "weather", ask: "What is the archive in stations.ini?", says: ["data/archive.sqlite"] },
  { skill: "ini", project: "weather", ask: "Which port does the ridge have in stations.ini?", says: ["9126"] },
  // TOML.
  { skill: "toml", project: "garden", ask: "What is the edition in Cargo.toml?", says: ["2024"] },
  { skill: "toml", project: "garden", ask: "What is the rust-version in Cargo.toml?", says: ["1.86"] },
  { skill: "toml", project: "garden", ask: "Which license does Cargo.toml have?", says: ["MIT OR Apache-2.0"] },
  { skill: "toml", project: "garden", ask: "What is the theme in app.toml?", says: ["moss"] },
  { skill: "toml", project: "garden", ask: "what is the paper in app.toml?", says: ["A3"] },
  { skill: "toml", project: "garden", ask: "What is the version of tera in Cargo.toml?", says: ["1.20.0"] },
  { skill: "toml", project: "weather", ask: "What is the name in pyproject.toml?", says: ["windrose"] },
  { skill: "toml", project: "weather", ask: "What is the line-length in pyproject.toml?", says: ["96"] },
  { skill: "toml", project: "weather", ask: "What is requires-python in pyproject.toml?", says: [">=3.11"] },
  // .env.
  { skill: "env", project: "shop", ask: "What is PORT in .env?", says: ["4310"] },
  { skill: "env", project: "shop", ask: "What is the REDIS_URL in .env?", says: ["redis://localhost:6380/2"] },
  { skill: "env", project: "shop", ask: "What is LOG_LEVEL set to in .env?", says: ["warn"] },
  { skill: "env", project: "shop", ask: "How many MAX_CART_ITEMS does .env allow?", says: ["75"] },
  { skill: "env", project: "garden", ask: "What is BACKUP_BUCKET in .env.example?", says: ["terrace-backups-eu"] },
  { skill: "env", project: "garden", ask: "what's the http port in .env.example?", says: ["8472"] },
  // YAML.
  { skill: "yaml", project: "shop", ask: "What is the pageSize in config/default.yaml?", says: ["24"] },
  { skill: "yaml", project: "shop", ask: "What is the engine in config/default.yaml?", says: ["meilisearch"] },
  { skill: "yaml", project: "shop", ask: "What is the ttl in config/default.yaml?", says: ["900"] },
  { skill: "yaml", project: "shop", ask: "Is wishlist true or false in config/default.yaml?", says: ["true"] },
  { skill: "yaml", project: "shop", ask: "What is timeoutSeconds in config/default.yaml?", says: ["45"] },
  { skill: "yaml", project: "shop", ask: "What is the POSTGRES_DB in docker-compose.yml?", says: ["storefront"] },
  // Titles, headings, first and last lines.
  { skill: "title", project: "shop", ask: "What is the title of README.md?", says: ["Bright Basket Storefront"] },
  { skill: "title", project: "weather", ask: "What is the title of README.md?", says: ["windrose"] },
  { skill: "title", project: "garden", ask: "What is the first heading of README.md?", says: ["Plot Planner"] },
  { skill: "title", project: "shop", ask: "What is the heading of docs/returns.md?", says: ["Returns and refunds"] },
  { skill: "title", project: "garden", ask: "What is the first heading in todo.md?", says: ["Jobs for the week"] },
  { skill: "title", project: "toolkit", ask: "Tell me the title of README.md", says: ["Shedkit"] },
  {
    skill: "first line",
    project: "weather",
    ask: "What is the first line of notes.txt?",
    says: ["Ask the harbour office for the key of the mast"],
  },
  {
    skill: "first line",
    project: "shop",
    ask: "What is the first line of docs/shipping.txt?",
    says: ["Shipping is free above 499 SEK"],
  },
  {
    skill: "first line",
    project: "weather",
    ask: "Show me the first line of data/summary.csv",
    says: ["month,mean,gust"],
  },
  {
    skill: "first line",
    project: "weather",
    ask: "What is the last line of notes.txt?",
    says: ["Order two spare anemometers"],
  },
  {
    skill: "first line",
    project: "weather",
    ask: "What is the last line of data/summary.csv?",
    says: ["2025-10,6.3,26.0"],
  },
  // Listing and counting.
  {
    skill: "list",
    project: "shop",
    ask: "Which files are in docs?",
    says: ["release.md", "returns.md", "shipping.txt"],
  },
  {
    skill: "list",
    project: "weather",
    ask: "List the files in data",
    says: ["august.raw", "july.raw", "september.raw", "summary.csv"],
  },
  { skill: "list", project: "garden", ask: "What files are in src?", says: ["main.rs", "rotation.rs"] },
  {
    skill: "list",
    project: "garden",
    ask: "List the files here.",
    says: ["app.toml", "beds.json", "Cargo.toml", "README.md", "todo.md"],
  },
  { skill: "count", project: "shop", ask: "How many files are in docs?", says: ["3"] },
  { skill: "count", project: "weather", ask: "How many files are in the folder data?", says: ["4"] },
  { skill: "count", project: "shop", ask: "Count the files in src/routes", says: ["2"] },
  { skill: "count", project: "weather", ask: "How many lines does notes.txt have?", says: ["5"] },
  { skill: "count", project: "weather", ask: "How many lines are in weather/rose.py?", says: ["11"] },
  { skill: "count", project: "shop", ask: "Count the lines of .env", says: ["11"] },
  // Where something is defined, or mentioned.
  { skill: "defined", project: "shop", ask: "Where is loadConfig defined?", says: ["src/config.ts"] },
  { skill: "defined", project: "shop", ask: "Where is CartStore defined?", says: ["src/routes/cart.ts"] },
  { skill: "defined", project: "shop", ask: "In which file is healthReport defined?", says: ["src/routes/health.ts"] },
  { skill: "defined", project: "weather", ask: "Where is StationReader defined?", says: ["weather/collect.py"] },
  { skill: "defined", project: "weather", ask: "Where is the function sector_of defined?", says: ["weather/rose.py"] },
  { skill: "defined", project: "garden", ask: "Which file defines read_plan?", says: ["src/rotation.rs"] },
  { skill: "defined", project: "garden", ask: "Where is Season defined?", says: ["src/rotation.rs"] },
  { skill: "defined", project: "toolkit", ask: "Where is shedTool defined?", says: ["packages/shed/shed-tool.ts"] },
  // Arithmetic.
  { skill: "arithmetic", ask: "What is 128 * 47?", says: ["6016"] },
  { skill: "arithmetic", ask: "How much is 9132 minus 2875?", says: ["6257"] },
  { skill: "arithmetic", ask: "Calculate 84 / 16", says: ["5.25"] },
  { skill: "arithmetic", ask: "what is 1999 + 2026", says: ["4025"] },
  { skill: "arithmetic", ask: "What is (15 + 27) * 3?", says: ["126"] },
  { skill: "arithmetic", ask: "What is 19.5 times 4?", says: ["78"] },
  // Remembering.
  { skill: "remember", ask: "Remember that my sister lives in Oslo.", remembers: "my sister lives in Oslo" },
  {
    skill: "remember",
    ask: "Please remember that the meeting is on Thursday at 10",
    remembers: "the meeting is on Thursday at 10",
  },
  { skill: "remember", ask: "remember: the door code is 4711", remembers: "the door code is 4711" },
  {
    skill: "recall",
    before: ["Remember that my cat is called Pixel."],
    ask: "What is my cat called?",
    says: ["Pixel"],
  },
  {
    skill: "recall",
    before: ["Remember that the wifi password is tulip-42."],
    ask: "What is the wifi password?",
    says: ["tulip-42"],
  },
  {
    skill: "recall",
    before: ["Remember that my boss is Anneke.", "Remember that my car is a blue Volvo."],
    ask: "What is my car?",
    says: ["blue Volvo"],
  },
  // Writing and replacing.
  {
    skill: "write",
    project: "shop",
    ask: "Write buy more tulips to note.txt",
    holds: { "note.txt": "buy more tulips" },
  },
  {
    skill: "write",
    project: "weather",
    ask: "Create a file plan.md with the text Check the mast first",
    holds: { "plan.md": "Check the mast first" },
  },
  {
    skill: "write",
    project: "garden",
    ask: 'Write "Closed on Mondays" to hours.txt',
    holds: { "hours.txt": "Closed on Mondays" },
  },
  {
    skill: "replace",
    project: "shop",
    ask: "Replace 499 with 599 in docs/shipping.txt",
    changed: { path: "docs/shipping.txt", has: "above 599 SEK", not: "499" },
  },
  {
    skill: "replace",
    project: "weather",
    ask: "In stations.ini change metric to imperial",
    changed: { path: "stations.ini", has: "unit = imperial", not: "metric" },
  },
  {
    skill: "replace",
    project: "garden",
    ask: "Replace moss by fern in app.toml",
    changed: { path: "app.toml", has: 'theme = "fern"', not: "moss" },
  },
  // What is not there.
  { skill: "absent", project: "shop", ask: "What is the homepage in package.json?", absent: true },
  { skill: "absent", project: "weather", ask: "What is the password in stations.ini?", absent: true },
  { skill: "absent", project: "garden", ask: "What is the license in beds.json?", absent: true },
  { skill: "absent", project: "shop", ask: "What is SMTP_HOST in .env?", absent: true },
  { skill: "absent", project: "garden", ask: "What is the version in setup.json?", absent: true },
  { skill: "absent", project: "weather", ask: "What is the first line of diary.txt?", absent: true },
  { skill: "absent", project: "shop", ask: "Where is refundOrder defined?", absent: true },
  { skill: "absent", project: "garden", ask: "What is the color in app.toml?", absent: true },
  // Several turns.
  {
    skill: "follow-up",
    project: "shop",
    before: ["What is the version in package.json?"],
    ask: "And the license?",
    says: ["UNLICENSED"],
  },
  {
    skill: "follow-up",
    project: "weather",
    before: ["What is the interval in stations.ini?"],
    ask: "and the contact?",
    says: ["ops@windrose.example.org"],
  },
  {
    skill: "follow-up",
    project: "garden",
    before: ["What is the edition in Cargo.toml?", "What is 12 * 12?"],
    ask: "What is the title of README.md?",
    says: ["Plot Planner"],
  },
  {
    skill: "follow-up",
    project: "shop",
    before: ["Hello", "How many files are in docs?"],
    ask: "What is the currency in config/default.yaml?",
    says: ["SEK"],
  },
  // What it is, and what is beyond it.
  { skill: "itself", ask: "What tools do you have?", says: ["shed"] },
  { skill: "itself", ask: "Hello", says: ["Hello"] },
  { skill: "beyond", ask: "Why do cats purr?", beyond: true },
  { skill: "beyond", ask: "Write a song about the sea", beyond: true },
  { skill: "beyond", project: "shop", ask: "Is Stripe better than PayPal?", beyond: true },
  { skill: "beyond", ask: "Who won the world cup in 1998?", beyond: true },
];
