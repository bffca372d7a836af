// One whole conversation in protocol 2 through the official TypeScript SDK's experimental client. The plan comes as
// JSON in the first argument ({command: [...], project}); what happened goes as JSON to stdout. Whatever the SDK cannot
// decode it reports on the console: that becomes a complaint.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk/experimental/v2";

const plan = JSON.parse(process.argv[2]);
const summary = { complaints: [], frames: [], permissions: [], customs: [] };
console.error = (...words) => summary.complaints.push(words.map((word) => JSON.stringify(word) ?? String(word)).join(" "));
const { agent, client: clientMethods } = acp.methods;

function makeClient() {
  return acp
    .client({ name: "foreign-typescript-editor" })
    .onNotification(clientMethods.session.update, ({ params }) => {
      if (acp.SessionUpdate.isCustom(params.update)) summary.customs.push(params.update);
    })
    .onRequest(clientMethods.session.requestPermission, ({ params, signal }) => {
      summary.permissions.push({ title: params.title, subject: params.subject });
      const option = params.options.find((offered) => offered.kind === "allow_once");
      if (params.title.includes("never.txt")) {
        return new Promise((resolve) => {
          const cancelled = () => resolve({ outcome: { outcome: "cancelled" } });
          signal.addEventListener("abort", cancelled, { once: true });
          summary.onQuestion?.();
        });
      }
      return { outcome: { outcome: "selected", optionId: option.optionId } };
    });
}

/** Notes every frame in the order in which this side sees it. */
function noted({ readable, writable }, frames) {
  const note = (sent) =>
    new TransformStream({
      transform(message, controller) {
        frames.push({ sent, message });
        controller.enqueue(message);
      },
    });
  const outgoing = note(true);
  outgoing.readable.pipeTo(writable).catch(() => {});
  return { readable: readable.pipeThrough(note(false)), writable: outgoing.writable };
}

/** Runs `talk` with a fresh process of the program, which must then end by itself with code 0. */
async function inNewProcess(talk) {
  const [command, ...args] = plan.command;
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const exit = once(child, "exit");
  const frames = [];
  summary.frames.push(frames);
  const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  await makeClient().connectWith(noted(stream, frames), async (context) => {
    const hello = await context.request(agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION,
      info: { name: "foreign-typescript-editor", version: "1" },
      capabilities: {},
    });
    await talk(context, hello);
  });
  child.stdin.end();
  const [code] = await exit;
  summary.exits = [...(summary.exits ?? []), code];
}

/** Reads a session until it is idle; `look` sees every update. */
async function untilIdle(session, look = () => {}) {
  const seen = { text: "", states: [], updates: [] };
  for (;;) {
    const { kind, update, stopReason } = await session.nextUpdate();
    seen.updates.push(update);
    if (acp.SessionUpdate.isStateUpdate(update)) seen.states.push(update.state);
    if (acp.SessionUpdate.isAgentMessageChunk(update)) seen.text += update.content.text ?? "";
    await look(update, seen);
    if (kind === "stop") return { ...seen, stopReason };
  }
}

await inNewProcess(async (context, hello) => {
  summary.agent = hello.info.name;
  summary.version = hello.protocolVersion;
  const session = await context.buildSession(plan.project).start();
  summary.session = session.sessionId;
  summary.options = session.configOptions.map((option) => option.configId);
  summary.commands = session.newSessionResponse.availableCommands.map((command) => command.name);

  summary.workId = (await session.prompt("Work")).messageId;
  summary.worked = await untilIdle(session);

  await session.prompt("Wait");
  summary.cancelled = await untilIdle(session, (update, seen) => {
    if (seen.text === "Half") context.notify(agent.session.cancel, { sessionId: session.sessionId });
  });

  await session.prompt("Ask");
  summary.onQuestion = () => context.notify(agent.session.cancel, { sessionId: session.sessionId });
  summary.unanswered = (await untilIdle(session)).stopReason;
  delete summary.onQuestion;

  await session.setConfigOption({ configId: "mode", type: "id", value: "auto" });
  summary.mode = session.configOptions.find((option) => option.configId === "mode").currentValue;

  await session.prompt("Serve");
  summary.served = await untilIdle(session);
  const [{ terminalId }] = session.background;
  summary.cancellable = session.canCancelTerminal(terminalId);
  await session.cancelTerminal(terminalId);
  while (session.background.length) await session.nextUpdate();
  summary.stillCancellable = session.canCancelTerminal(terminalId);

  await session.prompt("Stop the call");
  summary.stopped = await untilIdle(session, async (update) => {
    if (acp.SessionUpdate.isToolCallUpdate(update) && update.status === "in_progress") {
      await session.cancelToolCall(update.toolCallId);
    }
  });
  summary.listed = (await context.request(agent.session.list, { cwd: plan.project })).sessions;
});

await inNewProcess(async (context) => {
  const { session: sessionId } = summary;
  const session = context.attachSession({ sessionId });
  const params = { sessionId, cwd: plan.project, replayFrom: { type: "start" } };
  summary.resumed = await context.request(agent.session.resume, params);
  summary.replayed = await untilIdle(session);
  await session.prompt("Thank you");
  summary.thanked = (await untilIdle(session)).text;
  await context.request(agent.session.close, { sessionId });
  summary.closed = await session.prompt("Still there?").catch(({ code, message, data }) => ({ code, message, data }));
  await context.request(agent.session.delete, { sessionId });
  summary.left = (await context.request(agent.session.list, {})).sessions.length;
});

process.stdout.write(JSON.stringify(summary));
