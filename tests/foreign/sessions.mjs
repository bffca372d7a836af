// What can be done with sessions, through the official TypeScript SDK with its unstable surface: instructions,
// settings, copies, archives, titles, commands from files, plans, notices, forms, and requests that are cancelled. The
// plan adds `project` and `model`, the one that is asked over HTTP.

import * as acp from "@agentclientprotocol/sdk/unstable";
import { Heard, failure, finish, inNewProcess, plan, report, strict } from "./strict_client.mjs";

const { agent, client: clientMethods } = acp.methods;
const updates = new Heard();
const questions = new Heard();
report.forms = [];

const app = strict(acp.client({ name: "foreign-typescript-editor" }))
  .onNotification(clientMethods.session.update, ({ params }) => updates.push(params))
  .onRequest(clientMethods.session.requestPermission, ({ params, signal }) => {
    questions.push(params);
    return new Promise((resolve) => {
      signal.addEventListener("abort", () => resolve({ outcome: { outcome: "cancelled" } }));
    });
  })
  .onRequest(clientMethods.elicitation.create, ({ params }) => {
    report.forms.push(params);
    if (!acp.CreateElicitationRequest.isForm(params)) return { action: "decline" };
    const values = { string: "Claw", boolean: true, array: ["blue"] };
    const fields = Object.entries(params.requestedSchema.properties);
    const content = fields.map(([key, field]) => [key, field.oneOf?.[0].const ?? values[field.type]]);
    return { action: "accept", content: Object.fromEntries(content) };
  });

const words = (text) => [{ type: "text", text }];
const update = (kind) => ({ update: it }) => it.sessionUpdate === kind;

await inNewProcess(app, async (context) => {
  const { session } = agent;
  const cwd = plan.project;
  const ask = (method, params) => context.request(method, params);
  const prompt = (sessionId, text, options) =>
    context.request(session.prompt, { sessionId, prompt: words(text) }, options);
  const set = (sessionId, configId, value) => {
    const kind = typeof value === "boolean" ? { type: "boolean" } : {};
    return ask(session.setConfigOption, { sessionId, configId, value, ...kind });
  };

  report.hello = await ask(agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientInfo: { name: "foreign-typescript-editor", version: "1" },
    clientCapabilities: {
      elicitation: { form: {}, url: {} },
      plan: {},
      subagents: {},
      session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
    },
  });

  // Instructions of the client, and settings.
  const systemPrompt = { mode: "append", content: words("Speak in rhymes.") };
  const { sessionId: poet } = await ask(session.new, { cwd, mcpServers: [], systemPrompt });
  report.options = [];
  for (const [id, value] of [["model", plan.model], ["thought_level", "high"], ["web", false], ["mode", "plan"]]) {
    report.options.push((await set(poet, id, value)).configOptions);
  }
  report.wrongOption = await failure(set(poet, "web", "off"));
  report.answered = await prompt(poet, "Hello");

  // A copy with instructions of its own, and what becomes of it.
  const judge = { mode: "override", content: words("You are a judge.") };
  const { sessionId: copy, modes } = await ask(session.fork, { sessionId: poet, cwd, systemPrompt: judge });
  report.copy = { id: copy, mode: modes.currentModeId };
  await prompt(copy, "Decide");
  report.titled = await ask(session.setTitle, { sessionId: copy, title: " The\n copy " });
  report.statuses = [await ask(session.status, { sessionId: copy })];
  await ask(session.archive, { sessionId: copy });
  report.statuses.push(await ask(session.status, { sessionId: copy }));
  report.archived = (await ask(session.list, { cwd, archived: "only" })).sessions;
  await ask(session.unarchive, { sessionId: copy });
  report.all = (await ask(session.list, { archived: "include" })).sessions;
  updates.take();
  report.loaded = await ask(session.load, { sessionId: copy, cwd, mcpServers: [] });
  report.replayed = updates.take().map((it) => it.update);
  await ask(session.delete, { sessionId: copy });
  report.unknown = await failure(ask(session.status, { sessionId: copy }));
  await ask(session.close, { sessionId: copy }); // the SDK takes the refusal for an answer

  // Work: a command from a file, a plan, a form, questions and answers that are withdrawn.
  const { sessionId: worker } = await ask(session.new, { cwd, mcpServers: [], systemPrompt: null });
  await updates.first(update("notice"), "a notice");
  await updates.first(update("available_commands_update"), "commands");
  report.opened = updates.take().map((it) => it.update);
  report.fixed = await prompt(worker, "/fix a.txt");
  report.work = updates.take().map((it) => it.update);

  const signal = new AbortController();
  const withdrawn = prompt(worker, "Wait", { cancellationSignal: signal.signal });
  await updates.first(({ update: it }) => it.content?.text === "Half", "half an answer");
  signal.abort();
  report.withdrawn = await withdrawn.catch(({ code }) => ({ code }));

  const asking = prompt(worker, "Write");
  report.question = await questions.first(() => true, "a question");
  await context.notify(session.cancel, { sessionId: worker });
  report.unanswered = await asking;
  report.thanked = await prompt(worker, "Thank you");
});

finish();
