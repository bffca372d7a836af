// One whole conversation through the official TypeScript SDK, with files and terminals that the client serves. The plan
// adds `project` and `buffer: {path, text}`.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import * as acp from "@agentclientprotocol/sdk";
import { failure, finish, inNewProcess, plan, report as summary, strict } from "./strict_client.mjs";

Object.assign(summary, { updates: [], permissions: [], forms: [], reads: [], writes: {}, terminals: {} });
const buffers = { [plan.buffer.path]: plan.buffer.text };
const terminals = new Map();
let onUpdate = () => {};

const { agent, client: clientMethods } = acp.methods;

function makeClient() {
  return strict(acp.client({ name: "foreign-typescript-editor" }))
    .onNotification(clientMethods.session.update, ({ params }) => {
      summary.updates.push(params.update);
      onUpdate(params.update);
    })
    .onRequest(clientMethods.session.requestPermission, ({ params }) => {
      summary.permissions.push({ call: params.toolCall, kinds: params.options.map((option) => option.kind) });
      const option = params.options.find((offered) => offered.kind === "allow_once");
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    })
    .onRequest(clientMethods.elicitation.create, ({ params }) => {
      summary.forms.push(params);
      const content = {};
      for (const [key, field] of Object.entries(params.requestedSchema.properties)) {
        content[key] = field.oneOf?.[0].const ?? "Claw";
      }
      return { action: "accept", content };
    })
    .onRequest(clientMethods.fs.readTextFile, async ({ params }) => {
      summary.reads.push(params.path);
      return { content: buffers[params.path] ?? (await readFile(params.path, "utf8")) };
    })
    .onRequest(clientMethods.fs.writeTextFile, async ({ params }) => {
      summary.writes[params.path] = buffers[params.path] = params.content;
      await writeFile(params.path, params.content);
      return {};
    })
    .onRequest(clientMethods.terminal.create, ({ params }) => {
      const env = Object.fromEntries((params.env ?? []).map(({ name, value }) => [name, value]));
      const child = spawn(params.command, params.args ?? [], { cwd: params.cwd ?? undefined, env });
      const terminal = { child, output: "", ended: once(child, "close") };
      for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (terminal.output += data));
      const terminalId = `terminal-${terminals.size + 1}`;
      terminals.set(terminalId, terminal);
      summary.terminals[terminalId] = { line: params.args?.at(-1), released: false };
      return { terminalId };
    })
    .onRequest(clientMethods.terminal.output, ({ params }) => {
      const { child, output } = terminals.get(params.terminalId);
      const exitStatus = child.exitCode === null ? null : { exitCode: child.exitCode };
      return { output, truncated: false, exitStatus };
    })
    .onRequest(clientMethods.terminal.waitForExit, async ({ params }) => {
      const [exitCode, signal] = await terminals.get(params.terminalId).ended;
      return { exitCode, signal };
    })
    .onRequest(clientMethods.terminal.kill, ({ params }) => {
      terminals.get(params.terminalId).child.kill("SIGKILL");
      return {};
    })
    .onRequest(clientMethods.terminal.release, ({ params }) => {
      summary.terminals[params.terminalId].released = true;
      return {};
    });
}

const hello = {
  protocolVersion: acp.PROTOCOL_VERSION,
  clientInfo: { name: "foreign-typescript-editor", version: "1" },
  clientCapabilities: {
    fs: { readTextFile: true, writeTextFile: true },
    terminal: true,
    elicitation: { form: {} },
    session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
  },
};

const prompt = (context, sessionId, text) =>
  context.request(agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] });

await inNewProcess(makeClient(), async (context) => {
  const { agentInfo, protocolVersion } = await context.request(agent.initialize, hello);
  summary.agent = agentInfo.name;
  summary.version = protocolVersion;
  const opened = await context.request(agent.session.new, { cwd: plan.project, mcpServers: [] });
  summary.session = opened.sessionId;
  summary.modes = opened.modes.availableModes.map((mode) => mode.id);
  summary.options = opened.configOptions.map((option) => option.id);
  summary.worked = await prompt(context, opened.sessionId, "Work");
  onUpdate = (update) => {
    if (update.sessionUpdate === "agent_message_chunk" && update.content.text === "Half") {
      context.notify(agent.session.cancel, { sessionId: opened.sessionId });
    }
  };
  summary.cancelled = await prompt(context, opened.sessionId, "Wait");
  await context.request(agent.session.setMode, { sessionId: opened.sessionId, modeId: "edit" });
  summary.listed = (await context.request(agent.session.list, { cwd: plan.project })).sessions;
  summary.live = summary.updates.splice(0);
});

await inNewProcess(makeClient(), async (context) => {
  await context.request(agent.initialize, hello);
  const { session: sessionId } = summary;
  summary.loaded = await context.request(agent.session.load, { sessionId, cwd: plan.project, mcpServers: [] });
  summary.replayed = summary.updates.splice(0);
  summary.thanked = await prompt(context, sessionId, "Thank you");
  await context.request(agent.session.close, { sessionId });
  summary.closed = await failure(prompt(context, sessionId, "Still there?"));
  await context.request(agent.session.delete, { sessionId });
  summary.left = (await context.request(agent.session.list, {})).sessions.length;
});

finish();
