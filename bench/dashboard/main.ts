// What does it cost the server to be looked at? 2,000 clients and a large cluster: how long the debug address takes to
// answer, and how much of a core an open page uses, view by view, over the same time without one.
//   npm run bench:dashboard -- [--clients 2000] [--nodes 2000] [--pods 96000] [--churn 20] [--seconds 5]
import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:http";
import { createConnection, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { nodeName } from "../../src/programs/demo/index.ts";
import type { OverviewView } from "../../src/typha/dashboard/contract.ts";
import { clientFrame, clientPreamble } from "../../src/typha/wire/index.ts";
import { clientHello } from "../../test/kit/client-hello.ts";
import { record } from "../../test/kit/record.ts";
import { useOf } from "../fanout/process-use.ts";
import { median } from "../median.ts";

const { values: flags } = parseArgs({
  options: {
    clients: { type: "string", default: "2000" },
    nodes: { type: "string", default: "2000" },
    pods: { type: "string", default: "96000" },
    churn: { type: "string", default: "20" },
    seconds: { type: "string", default: "5" },
  },
});
const clients = Number(flags.clients);
const seconds = Number(flags.seconds);
const rounds = 5;

const entry = new URL("./typha.ts", import.meta.url).pathname;
const child = spawn(process.execPath, [entry, "--nodes", flags.nodes, "--pods", flags.pods, "--churn", flags.churn], {
  stdio: ["pipe", "pipe", "inherit"],
});
const sockets: Socket[] = [];
try {
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const server = JSON.parse(line) as { port: number; keys: number; debug: string; dashboard: string };
  console.log(`${server.keys} keys, ${flags.nodes} nodes, ${clients} clients`);
  for (let index = 0; index < clients; index += 1) sockets.push(await connect(server.port, index));
  await sleep(5000);

  const debug = `http://${server.debug}`;
  await time("/clients", `${debug}/clients`);
  await time("/keys?prefix= (1,000 of all)", `${debug}/keys?prefix=/calico/`);
  await time("/keys?prefix= (one node's pods)", `${debug}/keys?prefix=/calico/v1/host/node-1000/workload/`);
  await time("/keys?search= (all keys searched)", `${debug}/keys?search=node-1234`);
  await time("/keys?kind=", `${debug}/keys?kind=GlobalNetworkPolicy`);
  await time("/watches", `${debug}/watches`);

  const page = `http://${server.dashboard}`;
  const pod = await somePod(page);
  const views: [string, string | undefined][] = [
    ["no page open", "nothing"],
    ["overview", undefined],
    ["nodes", "/api/nodes"],
    ["keys", "/api/keys?syncer=felix&kind=&search=&limit=1000"],
    ["keys, searching", "/api/keys?syncer=felix&kind=&search=node-1234&limit=1000"],
    ["one key", `/api/key?syncer=felix&path=${encodeURIComponent(pod)}`],
    ["pods and policies", `/api/endpoint?path=${encodeURIComponent(pod)}`],
    ["watches", "/api/watches"],
  ];
  // In turns, and the median of them: a single collection of the garbage of a large heap outweighs a page by far.
  const shares = new Map<string, number[]>(views.map(([name]) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, path] of views) {
      const used = await cpu((signal) => (path === "nothing" ? sleep(0) : view(page, path, signal)));
      shares.get(name)?.push(used);
    }
  }
  const quiet = median(shares.get("no page open") ?? []);
  for (const [name, used] of shares) {
    const more = name === "no page open" ? "" : `, so the page costs ${(median(used) - quiet).toFixed(2)} %`;
    console.log(`${name.padEnd(20)} the server uses ${median(used).toFixed(2)} % of a core${more}`);
    record({ of: name, figures: { is: "page", percent: median(used), morePercent: median(used) - quiet } });
  }
} finally {
  for (const socket of sockets) socket.destroy();
  child.kill();
}

/** Share of one core that the server used while this went on. */
async function cpu(look: (signal: AbortSignal) => Promise<void>): Promise<number> {
  const ending = new AbortController();
  const looking = look(ending.signal);
  await sleep(1000);
  const before = useOf(child.pid ?? 0).cpuMs;
  const startMs = performance.now();
  await sleep(seconds * 1000);
  const share = (100 * (useOf(child.pid ?? 0).cpuMs - before)) / (performance.now() - startMs);
  ending.abort();
  await looking;
  return share;
}

/** What the page does: listens, and asks for its view whenever what it depends on has moved. */
async function view(page: string, path: string | undefined, signal: AbortSignal): Promise<void> {
  let text = "";
  let last = 0;
  let etag = "";
  const { promise, resolve } = Promise.withResolvers<void>();
  const request = get(`${page}/events`, (response) => {
    response.setEncoding("utf8");
    response.on("data", async (part: string) => {
      text += part;
      const end = text.lastIndexOf("\n\n");
      const start = text.lastIndexOf("data: ", end);
      if (end < 0 || start < 0) return;
      const overview = JSON.parse(text.slice(start + 6, end)) as OverviewView; // our own server's, shaped by contract.ts
      text = "";
      const beat = path === "/api/nodes" ? overview.clientsAtMs : overview.nowMs;
      if (path === undefined || beat === last) return;
      last = beat;
      etag = (await ask(`${page}${path}`, etag)).etag;
    });
    response.on("close", () => resolve());
    response.on("error", () => resolve()); // ended by us
  });
  request.on("error", () => resolve()); // ended by us
  signal.addEventListener("abort", () => request.destroy());
  await promise;
}

async function time(name: string, address: string): Promise<void> {
  const times: number[] = [];
  let bytes = 0;
  const before = useOf(child.pid ?? 0).cpuMs;
  for (let round = 0; round < 20; round += 1) {
    const startMs = performance.now();
    ({ bytes } = await ask(address, ""));
    times.push(performance.now() - startMs);
  }
  const worst = Math.max(...times);
  const each = (useOf(child.pid ?? 0).cpuMs - before) / times.length;
  const figures = { medianMs: median(times), worstMs: worst, cpuMs: each, bytes, clients };
  record({ of: name, figures: { is: "question", ...figures } });
  console.log(
    `${name.padEnd(34)} median ${median(times).toFixed(1)} ms, worst of 20 ${worst.toFixed(1)} ms, CPU ${each.toFixed(1)} ms, ${bytes} bytes`,
  );
}

function ask(address: string, etag: string): Promise<{ bytes: number; etag: string; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ bytes: number; etag: string; text: string }>();
  get(address, { headers: { "if-none-match": etag } }, (response) => {
    const parts: Buffer[] = [];
    response.on("data", (part: Buffer) => parts.push(part));
    response.on("end", () => {
      const whole = Buffer.concat(parts);
      resolve({ bytes: whole.length, etag: response.headers.etag ?? "", text: whole.toString() });
    });
  }).on("error", reject);
  return promise;
}

async function somePod(page: string): Promise<string> {
  const { text } = await ask(`${page}/api/keys?kind=WorkloadEndpoint&limit=1`, "");
  return (JSON.parse(text) as { rows: { path: string }[] }).rows[0]?.path ?? "";
}

/** Says hello and then reads without looking: the bench is about the server. */
async function connect(port: number, index: number): Promise<Socket> {
  const socket = createConnection({ host: "127.0.0.1", port });
  await once(socket, "connect");
  socket.on("error", () => undefined); // the server ends it when the bench does
  const hello = {
    is: "clientHello" as const,
    ...clientHello,
    hostname: nodeName(index),
    syncerType: "node-status",
    supportsDecoderRestart: false,
    supportedCompressionAlgorithms: [],
    clientConnId: BigInt(index + 1),
  };
  socket.write(clientPreamble);
  socket.write(clientFrame(hello));
  socket.resume();
  return socket;
}
