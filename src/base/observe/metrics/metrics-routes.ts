// /metrics: Prometheus' text format, gzipped for scrapers that take it.
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { HttpHandler } from "../http/http-server.ts";
import type { Metrics } from "./metrics.ts";

export function metricsRoutes(
  metrics: Metrics,
  options: { refresh?: () => void } = {},
): { readonly [path: string]: HttpHandler } {
  metrics.watchRuntime(); // so that there is something to tell at the first scrape
  return {
    "/metrics": async (request, response) => {
      options.refresh?.(); // gauges that are read off when asked for, such as the seconds to a certificate's expiry
      const text = await metrics.text();
      const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
      if (!takesGzip(String(request.headers["accept-encoding"] ?? ""))) {
        response.writeHead(200, headers).end(text);
        return;
      }
      const body = await promisify<string, Buffer>(gzip)(text);
      response.writeHead(200, { ...headers, "content-encoding": "gzip", vary: "accept-encoding" }).end(body);
    },
  };
}

/** `gzip;q=0` is a no. */
function takesGzip(acceptEncoding: string): boolean {
  return acceptEncoding.split(",").some((entry) => {
    const [name = "", ...parameters] = entry.split(";").map((part) => part.trim().toLowerCase());
    return name === "gzip" && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
  });
}
