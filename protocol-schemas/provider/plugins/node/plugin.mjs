#!/usr/bin/env node
// The reference model, in JavaScript: nothing but Node's own modules.

import { createInterface } from "node:readline";

const MODELS = [{ id: "reference", name: "Reference", contextWindow: 8192 }];
const [RATE_LIMITED, CANCELLED, PARSE_ERROR, NO_METHOD, BAD_PARAMS] = [-31002, -32800, -32700, -32601, -32602];

class Failure extends Error {
  constructor(code, message, data) {
    super(message);
    this.error = { code, message, ...(data && { data }) };
  }
}

let inSession = false;
const waiting = new Set(); // ids of chats that are never answered unless they are cancelled

function write(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function delta(requestId, piece) {
  // a one-shot host wants nothing but the answer
  if (inSession) write({ method: "chat/delta", params: { requestId, ...piece } });
}

function say(id, ...pieces) {
  for (const text of pieces) delta(id, { type: "text", text });
  return { content: pieces.join(""), stopReason: "end" };
}

function chat(id, { messages }) {
  const last = Array.isArray(messages) ? messages.at(-1) : undefined;
  if (typeof last?.content !== "string") throw new Failure(BAD_PARAMS, "messages must be an array of messages");
  const text = last.content;
  const usage = { input_tokens: messages.length, output_tokens: 1 };
  if (last.role === "tool") return { ...say(id, "tool said: ", text), usage };
  const call = /^call ([^ ]+) (.*)$/s.exec(text);
  if (call) {
    const request = { id: "call-1", name: call[1], arguments: call[2] };
    delta(id, { type: "tool_call", index: 0, ...request });
    return { content: "", tool_calls: [request], usage, stopReason: "tool_calls" };
  }
  if (text.startsWith("think ")) {
    delta(id, { type: "thought", text: "thinking" });
    return { ...say(id, text.slice("think ".length)), reasoning: "thinking", usage };
  }
  if (text === "fail") throw new Failure(RATE_LIMITED, "try again later", { retryAfter: 7 });
  if (text === "wait") {
    waiting.add(id);
    return undefined;
  }
  return { ...say(id, "echo: ", text), usage };
}

function answer(method, id, params) {
  switch (method) {
    case "initialize":
      inSession = true;
      return {
        protocolVersion: 1,
        pluginInfo: { name: "reference-node", version: "1.0" },
        capabilities: { streaming: true, tools: true, vision: false, thinking: true },
        models: MODELS,
      };
    case "models/list":
      return { models: MODELS };
    case "shutdown":
      return {};
    case "chat":
      return chat(id, params);
    default:
      throw new Failure(NO_METHOD, `no method ${method}`);
  }
}

function take({ method, id, params = {} }) {
  if (method === "$/cancel_request") {
    if (waiting.delete(params.requestId)) {
      write({ id: params.requestId, error: { code: CANCELLED, message: "cancelled" } });
    }
    return;
  }
  if (id === undefined) return; // other notifications are ignored
  try {
    const result = answer(method, id, params);
    if (result !== undefined) write({ id, result });
  } catch (failure) {
    write({ id, error: failure.error ?? { code: -32603, message: String(failure) } });
  }
}

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
for await (const line of lines) {
  if (!line.trim()) continue;
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    write({ id: null, error: { code: PARSE_ERROR, message: "not JSON" } });
    continue;
  }
  take(message);
  if (message.method === "shutdown") break;
}
process.stdin.destroy(); // an open pipe would keep the process alive
