#!/usr/bin/env node
// Lends one tool, `word_count`: nothing but Node's own modules.
// Started by claw-acp it speaks on standard input and output; with the path of a hub's socket it attaches there.

import { connect } from "node:net";
import { createInterface } from "node:readline";

const TOOL = {
  name: "word_count",
  title: "Count words",
  description: "Counts the words of a text, which are separated by white space.",
  inputSchema: {
    type: "object",
    properties: { text: { type: "string", description: "The text." } },
    required: ["text"],
  },
  readOnly: true,
};
const [PARSE_ERROR, NO_METHOD, BAD_PARAMS] = [-32700, -32601, -32602];

class Failure extends Error {
  constructor(code, message) {
    super(message);
    this.error = { code, message };
  }
}

const hub = process.argv[2] && connect(process.argv[2]);
const [input, output] = hub ? [hub, hub] : [process.stdin, process.stdout];

function write(message) {
  output.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function call(params) {
  const text = params.arguments?.text;
  if (params.name !== TOOL.name || typeof text !== "string") {
    throw new Failure(BAD_PARAMS, "call word_count with a text");
  }
  const count = text.split(/\s+/u).filter(Boolean).length;
  write({ method: "log", params: { level: "info", message: `counted ${count} words` } });
  return { content: [{ type: "text", text: String(count) }] };
}

function answer(method, params) {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: 1,
        role: "tools",
        endpointInfo: { name: "reference-node", version: "1.0" },
        capabilities: {},
      };
    case "tools/call":
      return call(params);
    case "ping":
    case "shutdown":
      return {};
    default:
      throw new Failure(NO_METHOD, `no method ${method}`);
  }
}

// Handles one message; false when it was the last.
function take({ method, id, params = {}, error }) {
  if (method === undefined) {
    if (error) console.error("the hub refused the tool:", error);
    return true;
  }
  if (method === "closing") {
    console.error(params.message);
    return false;
  }
  if (id === undefined) return true; // other notifications are ignored
  try {
    write({ id, result: answer(method, params) });
  } catch (failure) {
    write({ id, error: failure.error ?? { code: -32603, message: String(failure) } });
  }
  if (method === "initialize") write({ id: "register", method: "tools/register", params: { tools: [TOOL] } });
  return method !== "shutdown";
}

for await (const line of createInterface({ input, crlfDelay: Infinity })) {
  if (!line.trim()) continue;
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    write({ id: null, error: { code: PARSE_ERROR, message: "not JSON" } });
    continue;
  }
  if (!take(message)) break;
}
hub?.end();
input.destroy(); // an open pipe would keep the process alive
