// What the scripts of these tests share. The plan comes as JSON in the first argument ({command: [...], ...}); what
// happened goes as JSON to stdout, written by `finish`. Nothing that the program sends may be lost on the way: whatever
// the SDK cannot decode, leaves out while decoding, or has no handler for becomes a complaint.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { Readable, Writable } from "node:stream";
import { RequestError } from "./node_modules/@agentclientprotocol/sdk/dist/core/jsonrpc.js";
import { ndJsonStream } from "./node_modules/@agentclientprotocol/sdk/dist/core/stream.js";
import * as decoders from "./node_modules/@agentclientprotocol/sdk/dist/v1/unstable/schema/zod.gen.js";

export const plan = JSON.parse(process.argv[2]);
export const report = { complaints: [], frames: [], exits: [] };

const PATIENCE = 20_000; // milliseconds any single wait may take; only a hang takes that long
const SHOWN = 12; // frames that a failure brings along
const { $defs } = createRequire(import.meta.url)("@agentclientprotocol/sdk/schema/v1/schema.unstable.json");

const shown = (word) => JSON.stringify(word) ?? String(word);
const complain = (...words) => report.complaints.push(words.map(shown).join(" "));
console.error = console.warn = complain;

/** Notes in the report whatever the app has no handler for. */
export function strict(app) {
  return app
    .onRequest("*", ({ method, params }) => {
      complain("unexpected request", method, params);
      throw RequestError.methodNotFound(method);
    })
    .onNotification("*", ({ method, params }) => {
      const isServed = method === "$/cancel_request"; // by the SDK itself, which hands it on nevertheless
      if (!isServed) complain("unexpected notification", method, params);
    });
}

/** Runs `talk` with a fresh process of the program, which must then end by itself. */
export async function inNewProcess(app, talk, env = {}) {
  const [command, ...args] = plan.command;
  const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"], env: { ...process.env, ...env } });
  const exit = once(child, "exit");
  const frames = [];
  report.frames.push(frames);
  const stream = ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
  const connection = app.connect(noted(stream, frames));
  try {
    await talk(connection.agent);
  } catch (error) {
    const last = frames.slice(-SHOWN).map(({ sent, message }) => `${sent ? "->" : "<-"} ${JSON.stringify(message)}`);
    error.message += `; the last frames:\n${last.join("\n")}\n`;
    throw error;
  } finally {
    child.stdin.end();
  }
  const [code] = await exit;
  report.exits.push(code);
  connection.close();
}

/** Writes the report, as the last thing of a script. */
export function finish() {
  process.stdout.write(JSON.stringify(report));
}

/** The promise, or an error that names what never came. */
export async function inTime(promise, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`there was never ${what}`)), PATIENCE);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** The error of a request that must fail. */
export async function failure(request) {
  const answer = await request.catch((error) => error);
  if (answer instanceof RequestError) return { code: answer.code, message: answer.message, data: answer.data };
  throw new Error(`answered with ${JSON.stringify(answer)}, not with an error`);
}

/** Things that came, in order, and a way to wait for the next ones. */
export class Heard {
  all = [];
  #waiting = [];

  push(item) {
    this.all.push(item);
    this.#waiting = this.#waiting.filter(({ condition, resolve }) => {
      const found = this.all.find(condition);
      if (found !== undefined) resolve(found);
      return found === undefined;
    });
  }

  /** The first that fits, as soon as there is one. */
  first(condition, what) {
    const found = this.all.find(condition);
    if (found !== undefined) return Promise.resolve(found);
    return inTime(new Promise((resolve) => this.#waiting.push({ condition, resolve })), what);
  }

  /** What came so far; it is not given again. */
  take() {
    return this.all.splice(0);
  }
}

/** Notes every frame in the order in which this side sees it, and decodes those of the program. */
function noted({ readable, writable }, frames) {
  const asked = new Map();
  const note = (sent) =>
    new TransformStream({
      transform(message, controller) {
        frames.push({ sent, message });
        if (!sent) check(message, asked);
        else if (message.method && "id" in message) asked.set(message.id, message.method);
        controller.enqueue(message);
      },
    });
  const outgoing = note(true);
  outgoing.readable.pipeTo(writable).catch(() => {});
  return { readable: readable.pipeThrough(note(false)), writable: outgoing.writable };
}

const DEFINITIONS = Object.entries($defs).filter(([, definition]) => definition["x-method"]);

function check(message, asked) {
  if (message.error) return;
  const isResult = "result" in message;
  const method = isResult ? asked.get(message.id) : message.method;
  const kind = isResult ? "Response" : "id" in message ? "Request" : "Notification";
  const sides = isResult ? ["agent"] : ["client", "protocol"];
  const found = DEFINITIONS.find(
    ([name, definition]) =>
      definition["x-method"] === method && sides.includes(definition["x-side"]) && name.endsWith(kind),
  );
  if (!found) return complain("no definition", message);
  const value = isResult ? message.result : message.params;
  const decoded = decoders[`z${found[0]}`].safeParse(value ?? {});
  if (decoded.success) lost(value, decoded.data, found[0]);
  else complain("cannot be decoded", message, decoded.error.issues);
}

/** Complains of what decoding left out or changed: an unknown field, or one with a value it did not like. */
function lost(sent, seen, path) {
  if (typeof sent !== "object" || sent === null) {
    const isSame = sent === seen || (sent === null && seen === undefined);
    if (!isSame) complain("decoded otherwise", path, sent, seen);
    return;
  }
  for (const key of Object.keys(sent)) lost(sent[key], seen?.[key], `${path}.${key}`);
}
