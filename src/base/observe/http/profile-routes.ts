// What the debug address has in place of Go's pprof: a CPU profile and a heap snapshot, both as Chrome's developer tools
// open them. One at a time: each slows the process down while it is made.
import type { ServerResponse } from "node:http";
import { Session } from "node:inspector/promises";
import { pipeline } from "node:stream/promises";
import { getHeapSnapshot } from "node:v8";
import { type Clock, passAbort } from "../../lib/index.ts";
import type { HttpHandler } from "./http-server.ts";

const maxSeconds = 60;

export function profileRoutes(options: { clock: Clock; signal: AbortSignal }): {
  readonly [path: string]: HttpHandler;
} {
  let isBusy = false;
  const exclusively =
    (make: HttpHandler): HttpHandler =>
    async (request, response, url) => {
      if (isBusy) return text(response, 409, "another profile is being made; try again when it is done");
      isBusy = true;
      try {
        await make(request, response, url);
      } finally {
        isBusy = false;
      }
    };
  const cpu = exclusively(async (_request, response, url) => {
    const seconds = Number(url.searchParams.get("seconds") ?? 30);
    if (!(seconds > 0 && seconds <= maxSeconds)) {
      return text(response, 400, `seconds must be more than 0 and at most ${maxSeconds}`);
    }
    const stop = new AbortController();
    using _ending = passAbort(options.signal, stop);
    response.once("close", () => stop.abort());
    const profile = await recordCpu(seconds, { clock: options.clock, signal: stop.signal }).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error;
    });
    if (profile === undefined) return void response.destroy(); // whoever asked has hung up, or the server ends
    response.writeHead(200, download("cpu.cpuprofile"));
    response.end(JSON.stringify(profile));
  });
  const heap = exclusively(async (_request, response) => {
    response.writeHead(200, download("heap.heapsnapshot"));
    await pipeline(getHeapSnapshot(), response);
  });
  const index: HttpHandler = (_request, response) =>
    text(
      response,
      200,
      [
        "/debug/pprof/profile?seconds=30   CPU profile (.cpuprofile, for Chrome's developer tools or speedscope)",
        "/debug/pprof/heap                 heap snapshot (.heapsnapshot); it holds everything in memory, private keys too",
      ].join("\n"),
    );
  // The original's paths, so that habits keep working.
  return { "/debug/pprof/": index, "/debug/pprof/profile": cpu, "/debug/pprof/heap": heap };
}

async function recordCpu(seconds: number, { clock, signal }: { clock: Clock; signal: AbortSignal }): Promise<unknown> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.start");
    await clock.sleep(seconds * 1000, signal);
    return (await session.post("Profiler.stop")).profile;
  } finally {
    session.disconnect();
  }
}

function download(name: string): { [header: string]: string } {
  return { "content-type": "application/json", "content-disposition": `attachment; filename="${name}"` };
}

function text(response: ServerResponse, status: number, says: string): void {
  response.writeHead(status, { "content-type": "text/plain; charset=utf-8" });
  response.end(`${says}\n`);
}
