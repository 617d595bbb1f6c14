// A Worker that runs the cases of the conformance kit on a database over HTTP: /NUMBER?DATABASE_URL.
import { SqlDocumentStore } from "@shedkit/store";
import { documentStoreCases } from "@shedkit/store/conformance";
import { LibsqlStorage } from "../../src/index.js";

export default {
  async fetch(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url);
    try {
      const storage = await LibsqlStorage.open(decodeURIComponent(search.slice(1)));
      await documentStoreCases[Number(pathname.slice(1))]?.run(new SqlDocumentStore(storage));
      await storage.close();
      return new Response("ok");
    } catch (error) {
      return new Response(`${(error as Error).message}\n${(error as Error).stack}`, { status: 500 });
    }
  },
};
