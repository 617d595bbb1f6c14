import { Hono } from "hono";
import type { Guard } from "./guard.js";
import { HttpError } from "./http-error.js";
import type { PageFiles } from "./options.js";

/** The page and its two files. They say nothing of anybody, so they need no token; all that they ask for does. */
export function pageRoutes(guard: Guard, page: PageFiles | undefined): Hono {
  const routes = new Hono();
  if (page === undefined) return routes;
  const file = (text: string, type: string) => () =>
    new Response(text, { headers: { "content-type": `${type}; charset=utf-8` } });
  routes.get("/page.js", file(page.script, "text/javascript"));
  routes.get("/page.css", file(page.style, "text/css"));
  routes.get("/", async (c) => {
    const token = c.req.query("token");
    if (token === undefined) return file(page.html, "text/html")();
    if (!(await guard.isToken(token))) {
      throw new HttpError(401, "unauthorized", "The token in this address is not the one of this server.");
    }
    // The token leaves the address bar, and with it the history.
    c.header("set-cookie", await guard.cookieFor(c.req.raw));
    return c.redirect("/", 303);
  });
  return routes;
}
