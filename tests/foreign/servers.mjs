// MCP servers of every kind, named by a client of the official TypeScript SDK. One of them lives inside the client, as
// the SDK's own helper serves it over `mcp/message`; the same server is offered over HTTP. The plan adds `project` and
// `servers`, declarations of those that run elsewhere.

import { once } from "node:events";
import { createServer } from "node:http";
import { fromMcpServer } from "@agentclientprotocol/sdk/experimental/mcp-server";
import * as acp from "@agentclientprotocol/sdk/unstable";
import { McpServer, createMcpHandler } from "@modelcontextprotocol/server";
import * as z from "zod";
import { Heard, finish, inNewProcess, plan, report, strict } from "./strict_client.mjs";

const { agent, client: clientMethods } = acp.methods;
const text = (words) => ({ content: [{ type: "text", text: words }] });
const later = []; // names of tools that the server has besides
const updates = new Heard();
const slow = new Heard(); // what becomes of the call that never answers

function makeServer() {
  const server = new McpServer({ name: "inside", version: "1" });
  const readOnly = { readOnlyHint: true };
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }), annotations: readOnly }, (given) =>
    text(given.text),
  );
  server.registerTool("fail", {}, () => ({ ...text("the sky fell down"), isError: true }));
  server.registerTool("count", {}, async ({ mcpReq }) => {
    const { progressToken } = mcpReq._meta;
    const params = { progressToken, progress: 3, total: 10, message: "a third" };
    await mcpReq.notify({ method: "notifications/progress", params });
    return text("counted");
  });
  server.registerTool("slow", {}, () => new Promise(() => slow.push("begun")));
  for (const name of later) server.registerTool(name, {}, () => text(`${name} was called`));
  for (const name of ["ready", ...later]) server.registerPrompt(name, {}, () => ({ messages: [] }));
  server.registerPrompt("review", { argsSchema: z.object({ file: z.string() }) }, ({ file }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Review ${file} thoroughly.` } }],
  }));
  return server;
}

/** Serves the same over HTTP; only who knows the word gets in. */
async function overHttp() {
  const { fetch } = createMcpHandler(makeServer);
  const http = createServer(async (incoming, outgoing) => {
    if (incoming.headers["x-secret"] !== "open sesame") return outgoing.writeHead(401).end();
    const body = await new Response(incoming).arrayBuffer();
    const { method, headers } = incoming;
    const request = new Request("http://127.0.0.1/", { method, headers, body: body.byteLength ? body : undefined });
    const answer = await fetch(request);
    outgoing.writeHead(answer.status, Object.fromEntries(answer.headers));
    for await (const chunk of answer.body ?? []) outgoing.write(chunk);
    outgoing.end();
  });
  await once(http.listen(0, "127.0.0.1"), "listening");
  const headers = [{ name: "X-Secret", value: "open sesame" }];
  return { http, declaration: { type: "http", name: "web", url: `http://127.0.0.1:${http.address().port}/`, headers } };
}

const provider = new acp.McpOverAcpProvider();
const app = strict(acp.client({ name: "foreign-typescript-editor" }))
  .onNotification(clientMethods.session.update, ({ params }) => updates.push(params.update))
  .onRequest(clientMethods.mcp.message, provider.handleRequest);

const commandsWith = (name) => (update) =>
  update.sessionUpdate === "available_commands_update" && update.availableCommands.some((it) => it.name === name);

await inNewProcess(app, async (context) => {
  const hello = await context.request(agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { session: { notices: {} } },
  });
  report.kinds = hello.agentCapabilities.mcpCapabilities;
  const helper = fromMcpServer(makeServer);
  const inside = provider.registerServer(context, {
    name: "inside",
    handler: (request) => {
      // Looked for here: Node may collect the helper's own request before it learns that it was cancelled.
      if (request.params?.name === "slow") request.signal.addEventListener("abort", () => slow.push("withdrawn"));
      return helper.handler(request);
    },
  });
  // A server that answers by hand: its errors are MCP's, or no answers at all.
  const bare = provider.registerServer(context, {
    name: "bare",
    handler: ({ method, params }) => {
      const listing = { resultType: "complete", ttlMs: 0, cacheScope: "private" };
      const tools = [{ name: "refuse", inputSchema: { type: "object" } }];
      if (method === "tools/list") return { result: { ...listing, tools } };
      if (method === "tools/call") throw new acp.McpProtocolError(-32000, `no ${params.name} today`);
      throw new acp.McpProtocolError(-32601, `no method ${method}`);
    },
  });
  const web = await overHttp();
  const mcpServers = [inside.declaration, bare.declaration, web.declaration, ...plan.servers];
  const { sessionId } = await context.request(agent.session.new, { cwd: plan.project, mcpServers });
  const prompt = (words) =>
    context.request(agent.session.prompt, { sessionId, prompt: [{ type: "text", text: words }] });
  for (const { name } of [inside.declaration, web.declaration, ...plan.servers]) {
    await updates.first(commandsWith(`${name}:ready`), `a prompt of ${name}`);
  }
  report.opened = updates.take();

  report.ended = await prompt("use all");
  report.used = updates.take();

  report.reviewed = await prompt("/inside:review a.txt");
  report.review = updates.take();

  later.push("grown");
  helper.notify.toolsChanged();
  helper.notify.promptsChanged();
  await updates.first(commandsWith("inside:grown"), "the later prompt");
  updates.take();
  await prompt("use the later tool");
  report.usedLater = updates.take();

  const waiting = prompt("wait");
  await slow.first((it) => it === "begun", "a slow call");
  await context.notify(agent.session.cancel, { sessionId });
  report.cancelled = await waiting;
  await slow.first((it) => it === "withdrawn", "an end of the slow call");

  inside.dispose(); // not waited for, for the same reason: a subscription may not learn of it
  updates.take();
  report.gone = await prompt("use what is gone");
  report.usedGone = updates.take();
  web.http.close();
  web.http.closeAllConnections();
});

finish();
