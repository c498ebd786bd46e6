// The examples, run as a reader would run them, against a server of ours over mutual TLS.

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { promisify } from "node:util";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { nodeVariables } from "../kit/node-variables.ts";
import { serve } from "../kit/serving.ts";

const run = promisify(execFile);
const conditions = "--conditions=cattail-source";

async function cluster() {
  const authority = testAuthority();
  const stack = new AsyncDisposableStack();
  const folder = stack.use(certificateFolder(authority));
  const server = stack.use(await serve({ tls: authority.serverTls() }));
  const endpoint = (address: string) =>
    `{"state":"active","name":"cali1","ipv4_nets":["${address}/32"],"labels":{"a":"b"}}`;
  server.set({
    "/calico/v1/host/n1/workload/k8s/shop%2fweb-0/endpoint/eth0": endpoint("10.0.0.1"),
    "/calico/v1/host/n1/workload/k8s/shop%2fweb-1/endpoint/eth0": endpoint("10.0.0.2"),
    "/calico/v1/host/n2/workload/k8s/blog%2fapi-0/endpoint/eth0": endpoint("10.0.0.3"),
    "/calico/v1/policy/GlobalNetworkPolicy//deny": '{"tier":"default","selector":"all()"}',
    "/calico/v1/policy/NetworkPolicy/shop/web": '{"tier":"default","selector":"app == \\"web\\""}',
  });
  server.status(2);
  const env = nodeVariables(server, folder.client);
  return { server, env, [Symbol.asyncDispose]: () => stack.disposeAsync() };
}

test("examples/count-keys.ts, by the package's own name", async () => {
  await using world = await cluster();
  const { stdout } = await run(process.execPath, [conditions, "examples/count-keys.ts"], world);
  equal(stdout, "Policy 2\nWorkloadEndpoint 3\n");
});

test("examples/endpoints-of-a-node.ts", async () => {
  await using world = await cluster();
  const { stdout } = await run(
    process.execPath,
    [conditions, "examples/endpoints-of-a-node.ts", "n1", "--once"],
    world,
  );
  deepEqual(stdout.trimEnd().split("\n").sort(), [
    '+ shop/web-0 cali1 10.0.0.1/32 {"a":"b"}',
    '+ shop/web-1 cali1 10.0.0.2/32 {"a":"b"}',
  ]);
});

test("examples/policies-to-json.ts, which goes on with changes", async () => {
  await using world = await cluster();
  const folder = await mkdtemp(join(tmpdir(), "cattail-example-"));
  const file = join(folder, "policies.json");
  const child = spawn(process.execPath, [conditions, "examples/policies-to-json.ts", file], {
    env: world.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  match(String((await lines.next()).value), /: 2 policies$/);
  world.server.delete(["/calico/v1/policy/NetworkPolicy/shop/web"]);
  match(String((await lines.next()).value), /: 1 policies$/);
  const policies = JSON.parse(await readFile(file, "utf8")) as object;
  deepEqual(policies, [
    { is: "Policy", kind: "GlobalNetworkPolicy", namespace: "", name: "deny", tier: "default", selector: "all()" },
  ]);
  const exited = once(child, "exit");
  child.kill();
  await exited;
  await rm(folder, { recursive: true });
});

test("examples/policies-to-json.ts, told of a change while it writes", async (t) => {
  await using world = await cluster();
  const folder = await mkdtemp(join(tmpdir(), "cattail-example-"));
  const file = join(folder, "policies.json");
  // What it writes first is more than a pipe holds: it goes on when we read.
  world.server.set({ "/calico/v1/policy/NetworkPolicy/shop/large": JSON.stringify({ selector: "x".repeat(300_000) }) });
  await run("mkfifo", [`${file}.part`]);
  const child = spawn(process.execPath, [conditions, "examples/policies-to-json.ts", file], {
    env: world.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  t.after(async () => {
    child.kill();
    await exited;
    await rm(folder, { recursive: true });
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const pipe = await open(`${file}.part`); // once it writes
  world.server.delete(["/calico/v1/policy/NetworkPolicy/shop/large"]);
  await run(process.execPath, [conditions, "examples/count-keys.ts"], world); // time for the change to arrive
  equal((JSON.parse(await pipe.readFile("utf8")) as object[]).length, 3);
  await pipe.close();
  match(String((await lines.next()).value), /: 3 policies$/);
  match(String((await lines.next()).value), /: 2 policies$/);
  equal((JSON.parse(await readFile(file, "utf8")) as object[]).length, 2);
});

test("examples/pod-count-exporter.ts", async () => {
  await using world = await cluster();
  const child = spawn(process.execPath, [conditions, "examples/pod-count-exporter.ts", "0"], {
    env: world.env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [address] = await once(createInterface({ input: child.stdout }), "line");
  const metrics = await (await fetch(String(address))).text();
  match(metrics, /^calico_pods_by_node\{node="n1"\} 2$/m);
  match(metrics, /^calico_pods_by_namespace\{namespace="blog"\} 1$/m);
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  equal((await exited)[0], 0);
});

const following = [
  ["count-keys.ts"],
  ["endpoints-of-a-node.ts", "n1"],
  ["policies-to-json.ts", "unwritten.json"],
  ["pod-count-exporter.ts", "0"],
];
const slips: { name: string; variables: { readonly [name: string]: string }; says: RegExp }[] = [
  {
    name: "half a set of TLS files",
    variables: { FELIX_TYPHAADDR: "127.0.0.1:1", FELIX_TYPHACAFILE: "ca.crt" },
    says: /^[tT]he TLS settings for the server are incomplete; .*\(CLIENT_TLS_INCOMPLETE\)\n$/,
  },
  {
    name: "certificates that are not there",
    variables: {
      FELIX_TYPHAADDR: "127.0.0.1:1",
      FELIX_TYPHACAFILE: "none.crt",
      FELIX_TYPHACERTFILE: "none.crt",
      FELIX_TYPHAKEYFILE: "none.key",
      FELIX_TYPHACN: "calico-typha",
    },
    says: /^[^\n]*none\.(crt|key)[^\n]*\(TLS_FILE_UNREADABLE\)\n$/,
  },
  {
    name: "an address that is none",
    variables: { FELIX_TYPHAADDR: "http://x:5473" },
    says: /^"http:\/\/x:5473" is not a server address\. .*\(CLIENT_ADDRESS\)\n$/,
  },
];
for (const [program = "", ...args] of following) {
  for (const { name, variables, says } of slips) {
    test(`examples/${program} says what is wrong, and no more: ${name}`, async () => {
      const env = { PATH: process.env.PATH, ...variables };
      const running = run(process.execPath, [conditions, `examples/${program}`, ...args], { env });
      await rejects(running, { code: 1, stderr: says });
    });
  }
}
