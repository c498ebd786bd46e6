// The probes: /liveness and /readiness, with the original's table as the body, or JSON for those who ask for it.
import type { IncomingMessage, ServerResponse } from "node:http";
import { type Health, type HealthSummary, healthTable } from "./health.ts";
import type { HttpHandler } from "./http-server.ts";

export function healthRoutes(health: Health): { readonly [path: string]: HttpHandler } {
  const probe = (quality: "live" | "ready") => (request: IncomingMessage, response: ServerResponse) => {
    const summary = health.probe();
    const isJson = wantsJson(request.headers.accept);
    response.writeHead(summary[quality] ? 200 : 503, {
      "content-type": isJson ? "application/json" : "text/plain; charset=utf-8",
      "cache-control": "no-store",
    });
    response.end(isJson ? JSON.stringify(jsonBody(summary)) : healthTable(summary));
  };
  return { "/liveness": probe("live"), "/readiness": probe("ready") };
}

/** JSON only where it is named: a browser's "*" and kube-probe's are for the table. */
export function wantsJson(accept: string | undefined): boolean {
  return (accept ?? "").split(",").some((type) => /^\s*application\/json\s*(;|$)/i.test(type));
}

function jsonBody({ live, ready, components }: HealthSummary): object {
  return {
    live,
    ready,
    components: components.map((one) => ({
      name: one.name,
      timeoutSeconds: one.timeoutMs / 1000,
      live: one.live,
      ready: one.ready,
      detail: one.detail,
    })),
  };
}
