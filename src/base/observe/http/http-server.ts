// One small HTTP server behind health, metrics, debug and dashboard: binds what the settings name, keeps trying while
// it cannot, and turns away who should not be asking.
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, isIP, SocketAddress } from "node:net";
import type { TlsOptions, Server as TlsServer } from "node:tls";
import { type Clock, type Log, limitRepeats } from "../../lib/index.ts";

// Not imported: as an ES module node:http loads a second HTTP client for its WebSocket, 45 ms and 15 MB at every start.
const { createServer } = process.getBuiltinModule("node:http");

export type HttpHandler = (request: IncomingMessage, response: ServerResponse, url: URL) => void | Promise<void>;

export type HttpOptions = {
  /** For the log: "health", "metrics", … */
  readonly name: string;
  /** "" listens on all interfaces; "localhost" on the loopback of both families, without asking a resolver. */
  readonly host: string;
  readonly port: number;
  /** Exact path → handler. Whatever is not here is 404. A path that ends in "/*" takes everything below it. */
  readonly routes: { readonly [path: string]: HttpHandler };
  /**
   * Given: GET and HEAD only, and only with a Host header that is the loopback, the address the connection was made to,
   * or one of these. A page that had its own name point here (DNS rebinding) sends that name.
   */
  readonly guard?: { readonly hosts: readonly string[] };
  /** HTTPS. `prepare` sees each server before it listens, to judge its clients' certificates. */
  readonly tls?: { readonly options: TlsOptions; readonly prepare?: (server: TlsServer) => void };
  readonly clock: Clock;
  readonly log: Log;
  readonly signal: AbortSignal;
};

export type HttpServer = AsyncDisposable & {
  /** Where it listens; empty until it does. */
  readonly addresses: readonly AddressInfo[];
  /** Resolves when every address is bound. */
  readonly listening: Promise<void>;
  /** New certificates for the connections to come. Without effect where there is no TLS. */
  setTls(options: TlsOptions): void;
};

const retryMs = 1000;
const loopbackNames = ["localhost", "127.0.0.1", "::1"];

export function startHttp(options: HttpOptions): HttpServer {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, options.signal]);
  const servers = bindAddresses(options.host).map((host) => ({ host, server: makeServer(options) }));
  const bound = bindAll(servers, options, signal);
  bound.catch(() => undefined); // stopped before it could listen: whoever stopped it knows
  return {
    get addresses() {
      return servers
        .map(({ server }) => server.address())
        .filter((address) => address !== null && typeof address === "object");
    },
    listening: bound,
    setTls(tls) {
      for (const { server } of servers) if (isSecure(server)) server.setSecureContext(tls);
    },
    async [Symbol.asyncDispose]() {
      stop.abort(new Error(`${options.name} server stopped`));
      await Promise.all(servers.map(({ server }) => close(server)));
    },
  };
}

/** Literal addresses bind as they are; Node would ask the resolver for "localhost" and bind the first answer only. */
function bindAddresses(host: string): (string | undefined)[] {
  if (host === "") return [undefined];
  return host === "localhost" ? ["127.0.0.1", "::1"] : [host];
}

type Binding = { readonly host: string | undefined; readonly server: Server };

async function bindAll(bindings: Binding[], options: HttpOptions, signal: AbortSignal): Promise<void> {
  let port = options.port;
  for (const { host, server } of bindings) {
    // With port 0 both families have to end up on the same port, or its number would mean two things.
    port = await bind(server, { host, port, ...pick(options), signal });
  }
}

const pick = ({ name, clock, log, host }: HttpOptions) => ({ name, clock, log, setting: host });

async function bind(
  server: Server,
  to: {
    host: string | undefined;
    port: number;
    name: string;
    setting: string;
    clock: Clock;
    log: Log;
    signal: AbortSignal;
  },
): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    to.signal.throwIfAborted();
    try {
      await listen(server, to.host, to.port);
      // Stopped meanwhile, and closed before there was anything to close.
      if (to.signal.aborted) await close(server);
      to.signal.throwIfAborted();
      const address = server.address();
      const port = typeof address === "object" && address !== null ? address.port : to.port;
      to.log.info("HTTP server listening", { server: to.name, host: to.host ?? "all interfaces", port });
      return port;
    } catch (error) {
      to.signal.throwIfAborted();
      const code = (error as NodeJS.ErrnoException).code;
      // A machine without IPv6 has no ::1, and "localhost" means the other one there.
      if (to.setting === "localhost" && to.host === "::1" && (code === "EADDRNOTAVAIL" || code === "EAFNOSUPPORT"))
        return to.port;
      if (attempt === 1)
        to.log.error("HTTP server cannot listen; trying again every second", {
          server: to.name,
          host: to.host ?? "",
          port: to.port,
          error: String(error),
        });
      await to.clock.sleep(retryMs, to.signal);
    }
  }
}

function listen(server: Server, host: string | undefined, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(
      {
        port,
        ...(host === undefined ? {} : { host }),
        ...(host !== undefined && isIP(host) === 6 ? { ipv6Only: true } : {}),
      },
      () => {
        server.off("error", reject);
        resolve();
      },
    );
  });
}

function makeServer(options: HttpOptions): Server {
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    respond(request, response, options).catch((error: unknown) => {
      options.log.error("HTTP request failed", { server: options.name, path: request.url ?? "", error: String(error) });
      if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain; charset=utf-8" });
      response.end("the server failed to answer; its log says why\n");
    });
  };
  const server = options.tls === undefined ? createServer(answer) : createSecureServer(options.tls.options, answer);
  // Running out of descriptors, mostly: it passes, and must not end the process.
  const rare = limitRepeats(options.log, options);
  server.on("error", (error) => {
    if (server.listening) rare.error("HTTP server has a problem", { server: options.name, problem: error.message });
  });
  if (isSecure(server)) options.tls?.prepare?.(server);
  // Probes and scrapes are short; whoever drips a request or holds one open is not one of them.
  server.headersTimeout = 5000;
  server.requestTimeout = 10_000;
  server.maxConnections = 512;
  return server;
}

function isSecure(server: Server): server is Server & TlsServer {
  return "setSecureContext" in server;
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  { routes, guard }: HttpOptions,
): Promise<void> {
  response.setHeader("x-content-type-options", "nosniff");
  if (guard !== undefined && !isHostAllowed(request, guard.hosts)) {
    return refuse(response, 403, "this server answers only under its own address, or as localhost");
  }
  if (guard !== undefined && request.method !== "GET" && request.method !== "HEAD") {
    response.setHeader("allow", "GET, HEAD");
    return refuse(response, 405, "this address only answers questions; use GET");
  }
  const url = parseUrl(request.url);
  const handler = url === undefined ? undefined : findRoute(routes, url.pathname);
  if (url === undefined || handler === undefined)
    return refuse(response, 404, `not found; this server has ${Object.keys(routes).join(" ")}`);
  await handler(request, response, url);
}

function refuse(response: ServerResponse, status: number, says: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  response.end(`${says}\n`);
}

function findRoute(routes: HttpOptions["routes"], path: string): HttpHandler | undefined {
  if (Object.hasOwn(routes, path)) return routes[path];
  const below = Object.keys(routes).find((route) => route.endsWith("/*") && path.startsWith(route.slice(0, -1)));
  return below === undefined ? undefined : routes[below];
}

function isHostAllowed({ headers, socket }: IncomingMessage, hosts: readonly string[]): boolean {
  const name = /^(\[.*\]|[^:]*)(:\d+)?$/.exec(headers.host ?? "")?.[1];
  if (name === undefined || name === "") return false;
  const allowed = [...loopbackNames, ...hosts, socket.localAddress ?? ""];
  return allowed.some((host) => canonical(host) === canonical(name));
}

/** One spelling for each address: no brackets, no zone, IPv6 as short as can be, IPv4 inside IPv6 as IPv4. */
function canonical(host: string): string {
  const name = host
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/%.*$/, "")
    .toLowerCase();
  if (isIP(name) !== 6) return name;
  const { address } = new SocketAddress({ address: name, family: "ipv6" });
  return address.replace(/^::ffff:(?=\d+\.)/, "");
}

function parseUrl(text: string | undefined): URL | undefined {
  try {
    return new URL(text ?? "/", "http://host");
  } catch {
    return undefined; // such as "//": no path of ours
  }
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
