// Questions an operator asks of a running server, as read-only JSON on the debug address: who is connected and how far
// behind, what each watch is doing, which certificates are in use, where each setting comes from.
import { describeSettings } from "../config/index.ts";
import type { HttpHandler } from "../observe/index.ts";
import type { TyphaParts } from "./typha.ts";

export function debugRoutes(parts: TyphaParts): { readonly [path: string]: HttpHandler } {
  const { server, syncers, tls, options } = parts;
  return {
    "/clients": json(async () => server.clients()),
    "/watches": json(async () => syncers.reports()),
    "/certs": json(async () => certificates(tls)),
    "/settings": json(async () => describeSettings(options.read)),
    "/problems": json(async () => syncers.stats().listProblems(1000)),
  };
}

function certificates(tls: TyphaParts["tls"]): unknown {
  if (tls === undefined) return { tls: "off" };
  const { material, problems, refused, reloads, failedReloads } = tls.state();
  const { certificate, authorities } = material;
  return { tls: "on", files: tls.files, certificate, authorities, problems, refused, reloads, failedReloads };
}

function json(make: (url: URL) => Promise<unknown>): HttpHandler {
  return async (_request, response, url) => {
    const value = await make(url);
    response.writeHead(value === undefined ? 404 : 200, {
      "content-type": "application/json",
      "cache-control": "no-store",
    });
    response.end(JSON.stringify(value ?? "not there", bigintAsText, 2));
  };
}

/** Connection ids are 64 bits wide. */
function bigintAsText(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}
