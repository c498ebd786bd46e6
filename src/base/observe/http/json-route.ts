// Answers of the debug pages: read-only JSON, made when asked for.
import type { ServerResponse } from "node:http";
import type { HttpHandler } from "./http-server.ts";

/** A route whose answer is whatever `make` gives; undefined is 404. */
export function jsonRoute(make: (url: URL) => unknown): HttpHandler {
  return async (_request, response, url) => {
    const value = await make(url);
    if (value === undefined) answerJson(response, 404, { error: "there is no such thing here" });
    else answerJson(response, 200, value);
  };
}

export function answerJson(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", "cache-control": "no-store" });
  response.end(`${JSON.stringify(value, jsonSafe)}\n`);
}

/** What JSON has no form for: 64-bit numbers as text, maps as objects without a prototype to pollute, sets as lists. */
function jsonSafe(_name: string, value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Map) return Object.assign(Object.create(null), Object.fromEntries(value));
  return value instanceof Set ? [...value] : value;
}
