// A conversation that outlives its process. The first run prints the session's id; `node resume.ts ID` goes on with it.
// Needs ANTHROPIC_API_KEY. The sessions are in the folder "sessions", or where SESSIONS says.
import { AgentSession } from "@shedkit/agent";
import { AnthropicMessagesProvider } from "@shedkit/provider-anthropic";
import { JsonFileDocumentStore, JsonFileStorage } from "@shedkit/store-json-file";

const files = await JsonFileStorage.open(process.env.SESSIONS ?? "sessions");
const documents = new JsonFileDocumentStore(files);
const builder = AgentSession.builder(AnthropicMessagesProvider.fromEnv())
  .withModel("claude-sonnet-4-6")
  .withDocStore(documents);

const id = process.argv[2];
const agent = await (id === undefined ? builder : builder.resume(id)).build();
const answer = await agent.ask(id === undefined ? "Remember the word heron." : "Which word was it?");
console.log(agent.sessionId, answer.intoResult());

await agent.end();
await documents.close();
await files.close();
