// Conversations through the official TypeScript SDK over its WebSocket and streamable HTTP clients. The plan comes as
// JSON in the first argument ({url, token, profile, project}); what happened goes as JSON to stdout. Whatever the SDK
// cannot decode it reports on the console: that becomes a complaint.

import * as acp from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";

const plan = JSON.parse(process.argv[2]);
const summary = { complaints: [], updates: [], permissions: [] };
const complain = (...words) => summary.complaints.push(words.map((word) => String(word?.stack ?? word)).join(" "));
console.error = console.warn = complain;
process.on("unhandledRejection", complain);

const { agent, client: clientMethods } = acp.methods;

/** A browser cannot set headers of a WebSocket, and neither can Node's own: the token is one of the subprotocols. */
const open = () =>
  plan.profile === "websocket"
    ? createWebSocketStream(plan.url.replace("http:", "ws:"), { protocols: ["acp", `acp.bearer.${plan.token}`] })
    : createHttpStream(plan.url, { headers: { Authorization: `Bearer ${plan.token}` } });

/** Runs `talk` on a new connection; `onUpdate` may be set meanwhile. */
async function connected(talk) {
  const state = { onUpdate: () => {} };
  const app = acp
    .client({ name: "foreign-remote-editor" })
    .onNotification(clientMethods.session.update, ({ params }) => {
      summary.updates.push(params.update);
      state.onUpdate(params.update);
    })
    .onRequest(clientMethods.session.requestPermission, ({ params }) => {
      summary.permissions.push(params.toolCall.toolCallId);
      const option = params.options.find((offered) => offered.kind === "allow_once");
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    });
  await app.connectWith(open(), async (context) => {
    const hello = await context.request(agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      clientInfo: { name: "foreign-remote-editor", version: "1" },
      clientCapabilities: {},
    });
    await talk(context, state, hello);
  });
}

const prompt = (context, sessionId, text) =>
  context.request(agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });
const failure = (promise) => promise.then(() => null, ({ code, message, data }) => ({ code, message, data }));

await connected(async (context, state, hello) => {
  summary.agent = hello.agentInfo.name;
  const opened = await context.request(agent.session.new, { cwd: plan.project, mcpServers: [] });
  summary.session = opened.sessionId;
  summary.worked = await prompt(context, opened.sessionId, "Work");
  state.onUpdate = (update) => {
    if (update.sessionUpdate === "agent_message_chunk" && update.content.text === "Half") {
      context.notify(agent.session.cancel, { sessionId: opened.sessionId });
    }
  };
  summary.cancelled = await prompt(context, opened.sessionId, "Wait");
  await context.request(agent.session.setMode, { sessionId: opened.sessionId, modeId: "edit" });
  summary.live = summary.updates.splice(0);
  summary.asked = summary.permissions.splice(0);
});

await connected(async (context) => {
  const { session: sessionId } = summary;
  summary.loaded = await context.request(agent.session.load, { sessionId, cwd: plan.project, mcpServers: [] });
  summary.replayed = summary.updates.splice(0);
  summary.thanked = await prompt(context, sessionId, "Thank you");
  summary.missing = await failure(
    context.request(agent.session.load, { sessionId: `ses_${"0".repeat(26)}`, cwd: plan.project, mcpServers: [] }),
  );
  const second = await context.request(agent.session.new, { cwd: plan.project, mcpServers: [] });
  summary.both = await Promise.all([prompt(context, sessionId, "a"), prompt(context, second.sessionId, "b")]);
  await context.request(agent.session.close, { sessionId });
  summary.closed = await failure(prompt(context, sessionId, "Still there?"));
  summary.listed = (await context.request(agent.session.list, {})).sessions.length;
});

process.stdout.write(JSON.stringify(summary));
