// One reading of all pods, in a process of its own so that its peak memory is its own. Prints one line of JSON.
//   read-pods.ts raw-pages|raw-stream|ours-pages|ours-stream KUBECONFIG
// "raw" is the least anyone can do: read the bytes, JSON.parse them, let them go. "ours" follows the kind until it is in
// sync, and converts every pod to what clients are sent.
import { readFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, get } from "node:https";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { createPodProcessor } from "../../src/calico/convert/index.ts";
import { follow, openKubernetes } from "../../src/calico/datastore/index.ts";

export type Reading = {
  readonly way: string;
  readonly pods: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly peakRssMb: number;
  readonly megabytes?: number;
};

const [way = "", kubeconfig = ""] = process.argv.slice(2);
let agent: Agent | undefined;
const ways: { [way: string]: () => Promise<{ pods: number; bytes?: number }> } = {
  "raw-pages": rawPages,
  "raw-stream": rawStream,
  "ours-pages": () => ours(false),
  "ours-stream": () => ours(true),
};
const startMs = performance.now();
const { pods, bytes } = (await ways[way]?.()) ?? { pods: 0 };
const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage();
const reading: Reading = {
  way,
  pods,
  seconds: (performance.now() - startMs) / 1000,
  cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
  peakRssMb: maxRSS / 1024,
  ...(bytes === undefined ? {} : { megabytes: bytes / 1e6 }),
};
console.log(JSON.stringify(reading));
process.exit(0);

async function ours(streamLists: boolean) {
  const settings = { kubeconfig, streamLists };
  await using datastore = await openKubernetes(settings, { clock: systemClock, log: silentLog });
  const processor = createPodProcessor();
  const controller = new AbortController();
  const { signal } = controller;
  let converted = 0;
  const follower = follow(datastore, "Pod", { clock: systemClock, log: silentLog, random: Math.random, signal });
  for await (const events of follower) {
    for (const event of events) {
      if (event.is !== "set") continue;
      const { id, revision, value } = event.object;
      converted += processor.set(id, revision, value).kvs.length;
    }
    if (follower.report.status === 2) break;
  }
  controller.abort();
  return { pods: converted };
}

async function rawPages() {
  let count = 0;
  let total = 0;
  let next = "";
  do {
    let text = "";
    await read(`/api/v1/pods?limit=500&continue=${encodeURIComponent(next)}`, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const body = Buffer.concat(chunks);
        total += body.length;
        text = body.toString("utf8");
      });
    });
    const page = JSON.parse(text) as { items?: unknown[]; metadata: { continue?: string } };
    if (page.items === undefined) throw new Error(`after ${count} pods: ${text.slice(0, 500)}`);
    count += page.items.length;
    next = page.metadata.continue ?? "";
  } while (next !== "");
  return { pods: count, bytes: total };
}

async function rawStream() {
  let count = 0;
  let total = 0;
  let rest = "";
  const query = "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  await read(`/api/v1/pods?${query}`, (response) => {
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => {
      total += chunk.length;
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const event = JSON.parse(line) as { type: string };
        if (event.type === "ADDED") count += 1;
        else response.destroy();
      }
    });
  });
  return { pods: count, bytes: total };
}

type Config = {
  clusters: [{ cluster: { server: string; "certificate-authority": string } }];
  users: [{ user: { "client-certificate": string; "client-key": string } }];
};

function read(path: string, use: (response: IncomingMessage) => void): Promise<void> {
  const { clusters, users } = JSON.parse(readFileSync(kubeconfig, "utf8")) as Config; // the kit writes it as JSON
  agent ??= new Agent({
    keepAlive: true,
    ca: readFileSync(clusters[0].cluster["certificate-authority"]),
    cert: readFileSync(users[0].user["client-certificate"]),
    key: readFileSync(users[0].user["client-key"]),
  });
  return new Promise((resolve, reject) => {
    get(`${clusters[0].cluster.server}${path}`, { agent }, (response) => {
      response.on("close", resolve);
      use(response);
    }).on("error", reject);
  });
}
