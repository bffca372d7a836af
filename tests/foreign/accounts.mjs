// Logging in and out and setting providers through the official TypeScript SDK: first with its unstable surface, then
// as a client that knows nothing but the stable one. The plan adds `project`, `key` and `gateway`, another address.

import * as stable from "@agentclientprotocol/sdk";
import * as unstable from "@agentclientprotocol/sdk/unstable";
import { Heard, failure, finish, inNewProcess, plan, report, strict } from "./strict_client.mjs";

const pages = [];
const completed = new Heard();
const news = new Heard();
report.forms = [];

/** What a person does in a browser with the page that is to be opened. */
async function fillIn(url) {
  const page = await (await fetch(url)).text();
  const fields = new URLSearchParams({ provider: "openai", key: plan.key });
  for (const [input] of page.matchAll(/<input [^>]*type="hidden"[^>]*>/g)) {
    fields.set(/name="([^"]*)"/.exec(input)[1], /value="([^"]*)"/.exec(input)[1]);
  }
  const answer = await fetch(url, { method: "POST", body: fields, headers: { Origin: new URL(url).origin } });
  return { status: answer.status, told: await answer.text() };
}

const makeApp = (acp) =>
  strict(acp.client({ name: "foreign-typescript-editor" }))
    .onNotification(acp.methods.client.session.update, () => {})
    .onNotification(acp.methods.client.elicitation.complete, ({ params }) => completed.push(params.elicitationId))
    .onRequest(acp.methods.client.elicitation.create, ({ params }) => {
      report.forms.push(params);
      pages.push(fillIn(params.url));
      return { action: "accept" };
    });

const clientCapabilities = { auth: { terminal: true }, elicitation: { form: {}, url: {} } };
const hello = (acp) => ({ protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities });
const opening = { cwd: plan.project, mcpServers: [] };
const prompt = (sessionId) => ({ sessionId, prompt: [{ type: "text", text: "hi" }] });

const { agent } = unstable.methods;
const { statusUpdate } = unstable.methods.client.auth;
const app = makeApp(unstable).onNotification(statusUpdate, ({ params }) => news.push(params));
await inNewProcess(app, async (context) => {
  const ask = (method, params) => context.request(method, params);
  report.methods = (await ask(agent.initialize, hello(unstable))).authMethods;
  report.before = await ask(agent.auth.status, {});
  report.refused = await failure(ask(agent.session.new, opening));
  report.wrongMethod = await failure(ask(agent.authenticate, { methodId: "login" }));
  report.authenticated = await ask(agent.authenticate, { methodId: "api-key" });
  report.loggedIn = await news.first(({ state }) => state === "authenticated", "the news of a login");
  const { sessionId } = await ask(agent.session.new, opening);
  report.prompted = await ask(agent.session.prompt, prompt(sessionId));

  const route = { providerId: "openai", apiType: "openai", baseUrl: plan.gateway };
  report.providers = (await ask(agent.providers.list, {})).providers;
  await ask(agent.providers.set, { ...route, headers: { "X-Team": "blue", Authorization: `Bearer ${plan.key}` } });
  await ask(agent.session.prompt, prompt(sessionId));
  report.wrongApi = await failure(ask(agent.providers.set, { ...route, apiType: "_telepathy" }));
  report.required = await failure(ask(agent.providers.disable, { providerId: "openai" }));
  await ask(agent.providers.disable, { providerId: "anthropic" });
  report.set = (await ask(agent.providers.list, {})).providers;

  report.loggedOut = await ask(agent.logout, {});
  report.after = await news.first(({ state }) => state === "unauthenticated", "the news of a logout");
  report.refusedAgain = await failure(ask(agent.session.new, opening));
});

const { agent: known } = stable.methods;
await inNewProcess(makeApp(stable), async (context) => {
  await context.request(known.initialize, hello(stable));
  await context.request(known.authenticate, { methodId: "api-key" });
  const { sessionId } = await context.request(known.session.new, opening);
  report.promptedStable = await context.request(known.session.prompt, prompt(sessionId));
  await context.request(known.logout, {});
});

report.pages = await Promise.all(pages);
report.completed = completed.all;
finish();
