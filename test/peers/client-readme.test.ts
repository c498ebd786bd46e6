// The blocks of src/typha/client/README.md, each run as a program of its own against a server of ours; and README.md's.
import { equal, match } from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { Readable } from "node:stream";
import { test } from "node:test";
import { promisify } from "node:util";
import { certificateFolder, type TestAuthority, testAuthority } from "../kit/certificates.ts";
import { freePort } from "../kit/free-port.ts";
import { serve, type TestServer } from "../kit/serving.ts";

const run = promisify(execFile);
const flags = ["--conditions=cattail-source", "--input-type=module-typescript", "--eval"];
const blocks = await blocksOf("src/typha/client/README.md");

const prints: RegExp[] = [
  /^set \/calico\/v1\/Ready true$/m,
  /^in sync over mutual TLS$/m,
  /^shop\/web-0 \[ '10\.0\.0\.1\/32' \]$/m,
  /^4 keys$/m,
  /^(CLIENT_DIAL: no connection to 127\.0\.0\.1:1: nobody listens there .*\n){2}$/,
  /^CLIENT_SERVER_CERTIFICATE: no connection to .*: its certificate was not issued by a CA in our CA file .*\n$/,
];

test("every block of the page is tried", () => equal(blocks.length, prints.length));

for (const [index, code] of blocks.entries()) {
  test(`src/typha/client/README.md, block ${index + 1}`, async () => {
    await using servers = await startServers();
    const { stdout } = await run(process.execPath, [...flags, servers.ported(code)], { timeout: 300_000 });
    match(stdout, prints[index] ?? /never/);
  });
}

test("README.md's program says what is wrong and tries again, and then prints pods", async () => {
  const [code = "", ...others] = await blocksOf("README.md");
  equal(others.length, 0);
  const port = await freePort();
  await using stack = new AsyncDisposableStack();
  const servers = stack.use(await startServers());
  const child = spawn(process.execPath, [
    ...flags,
    servers.ported(code).replaceAll(/127\.0\.0\.1:\d+/g, `127.0.0.1:${port}`),
  ]);
  const exited = once(child, "exit");
  stack.defer(async () => {
    child.kill();
    await exited;
  });
  await says(child.stderr, /^CLIENT_DIAL: no connection to 127\.0\.0\.1:\d+: nobody listens there/m);
  stack.use(await startSecure(servers.authority, port));
  await says(child.stdout, /^shop\/web-0 has \[ '10\.0\.0\.1\/32' \]$/m);
});

async function says(stream: Readable, what: RegExp): Promise<void> {
  let text = "";
  for await (const chunk of stream.iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    if (what.test(text)) return;
  }
  throw new Error(`it ended without having said ${what}: ${text}`);
}

async function blocksOf(page: string): Promise<string[]> {
  return [...(await readFile(page, "utf8")).matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = ""]) => code);
}

async function startSecure(authority: TestAuthority, port = 0): Promise<TestServer> {
  const secure = await serve({ tls: authority.serverTls(), listen: { host: "127.0.0.1", port } });
  fill(secure);
  return secure;
}

/** One without TLS, one with, their certificates, and those of another cluster. */
async function startServers() {
  const stack = new AsyncDisposableStack();
  const authority = testAuthority();
  const { folder } = stack.use(certificateFolder(authority));
  const { folder: another } = stack.use(certificateFolder());
  const plain = stack.use(await serve());
  fill(plain);
  const secure = stack.use(await startSecure(authority));
  return {
    authority,
    ported: (code: string) =>
      code
        .replaceAll("127.0.0.1:5473", `127.0.0.1:${plain.address.port}`)
        .replaceAll("127.0.0.1:5474", `127.0.0.1:${secure.address.port}`)
        .replaceAll("another-cluster/", `${another}/`)
        .replaceAll("certs/", `${folder}/`),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

function fill(server: TestServer): void {
  server.set({
    "/calico/v1/Ready": "true",
    "/calico/v1/host/n1/workload/k8s/shop%2fweb-0/endpoint/eth0": '{"name":"cali1","ipv4_nets":["10.0.0.1/32"]}',
    "/calico/v1/policy/GlobalNetworkPolicy//deny": '{"tier":"default","selector":"all()"}',
    "/calico/resources/v3/projectcalico.org/nodes/n1": '{"metadata":{"name":"n1"},"spec":{}}',
  });
  server.status(2);
}
