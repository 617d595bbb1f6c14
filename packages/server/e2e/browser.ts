import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import { loadPage } from "../src/node.js";
import { type Served, type ServeOptions, serve, TOKEN } from "../test/helpers.js";

type Provider = Parameters<typeof serve>[0];

const PLACES = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Where a Chromium is; the tests need one. */
export const browserPath = PLACES.find((place) => place !== undefined && existsSync(place));

if (browserPath === undefined) {
  console.log("Skipped: there is no Chromium. Install one (apt-get install chromium), or name one in CHROMIUM.");
}

let browser: Browser | undefined;

export async function closeBrowser(): Promise<void> {
  await browser?.close();
}

export interface Visit {
  page: Page;
  context: BrowserContext;
}

export interface VisitOptions {
  scheme?: "light" | "dark";
  width?: number;
}

/** A server with the page. */
export async function servePage(provider: Provider, options: ServeOptions = {}): Promise<Served> {
  return serve(provider, { page: await loadPage(), ...options });
}

/** Opens the address that a person is given, in a browser of its own. Nothing may be asked of anybody else, ever. */
export async function visit(server: Served, { scheme = "light", width = 1400 }: VisitOptions = {}): Promise<Visit> {
  browser ??= await chromium.launch({ executablePath: browserPath as string, args: ["--no-sandbox"] });
  const context = await browser.newContext({
    colorScheme: scheme,
    viewport: { width, height: 900 },
    reducedMotion: "reduce",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const strangers: string[] = [];
  const problems: string[] = [];
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(`${server.url}/`) && !url.startsWith("data:")) strangers.push(url);
  });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && /Content Security|Uncaught/.test(message.text())) problems.push(message.text());
  });
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  onTestFinished(async () => {
    await context.close();
    expect(strangers).toEqual([]);
    expect(problems).toEqual([]);
  });
  await page.goto(`${server.url}/?token=${TOKEN}`);
  await page.locator("#message").waitFor();
  return { page, context };
}

export async function ask(page: Page, text: string): Promise<void> {
  await page.locator("#message").fill(text);
  await page.keyboard.press("Enter");
}
