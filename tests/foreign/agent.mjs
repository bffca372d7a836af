// An agent made with the official TypeScript SDK, for tests in which the program is the client. Lines of its prompt:
// `read PATH`, `write PATH TEXT`, `permit PATH`, `wait PATH` (until it is cancelled). The first argument is the protocol
// to speak: 1, or 2, a draft, in which there is only `permit` and `wait`.

import { writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import * as one from "@agentclientprotocol/sdk";
import * as two from "@agentclientprotocol/sdk/experimental/v2";

const version = Number(process.argv[2]);
const acp = version === 2 ? two : one;
const { agent, client: asked } = acp.methods;
const options = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];
let cancelled = () => {};

const does = {
  read: async (client, sessionId, path) =>
    (await client.request(asked.fs.readTextFile, { sessionId, path })).content,
  write: async (client, sessionId, path, content) => {
    await client.request(asked.fs.writeTextFile, { sessionId, path, content });
    return "written";
  },
  permit: async (client, sessionId, path) => {
    const toolCall = { toolCallId: "t1", title: `Edit ${path}`, kind: "edit", locations: [{ path }] };
    const question = version === 2 ? { title: toolCall.title, subject: { type: "tool_call", toolCall } } : { toolCall };
    const { outcome } = await client.request(asked.session.requestPermission, { sessionId, ...question, options });
    return outcome.optionId ?? outcome.outcome;
  },
  wait: (_client, _sessionId, path) =>
    new Promise((resolve) => {
      cancelled = () => resolve("cancelled");
      writeFileSync(path, String(process.pid));
    }),
};

async function work(client, sessionId, prompt) {
  const tell = (update) => client.notify(asked.session.update, { sessionId, update });
  let stopReason = "end_turn";
  for (const line of prompt.map((block) => block.text).join("\n").split("\n")) {
    const [, verb, path, words] = line.match(/^!(\w+) (\S+) ?(.*)$/) ?? [];
    if (!verb) continue;
    const said = await does[verb](client, sessionId, path, words);
    if (said === "cancelled") stopReason = "cancelled";
    await tell({ sessionUpdate: "agent_message_chunk", messageId: "m1", content: { type: "text", text: `[${said}]` } });
  }
  if (version === 2) await tell({ sessionUpdate: "state_update", state: "idle", stopReason });
  return { stopReason };
}

const info = { name: "foreign-typescript-agent", version: "1" };
const app = acp
  .agent({ name: info.name })
  .onRequest(agent.initialize, () =>
    version === 2 ? { protocolVersion: 2, info, capabilities: { session: {} } } : { protocolVersion: 1, agentInfo: info },
  )
  .onRequest(agent.session.new, () => ({ sessionId: "s1" }))
  .onNotification(agent.session.cancel, () => cancelled())
  .onRequest(agent.session.prompt, ({ params, client }) => {
    const done = work(client, params.sessionId, params.prompt);
    return version === 2 ? { messageId: "u1" } : done;
  });
app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
