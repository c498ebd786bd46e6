// The blocks of src/typha/client/README.md, each run as a program of its own against a server of ours.
import { equal, match } from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { promisify } from "node:util";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { serve, type TestServer } from "../kit/serving.ts";

const run = promisify(execFile);
const page = await readFile("src/typha/client/README.md", "utf8");
const blocks = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = ""]) => code);

const prints: RegExp[] = [
  /^set \/calico\/v1\/Ready true$/m,
  /^in sync over mutual TLS$/m,
  /^shop\/web-0 \[ '10\.0\.0\.1\/32' \]$/m,
  /^4 keys$/m,
  /^CLIENT_DIAL: no connection to 127\.0\.0\.1:1: /m,
];

test("every block of the page is tried", () => equal(blocks.length, prints.length));

for (const [index, code] of blocks.entries()) {
  test(`src/typha/client/README.md, block ${index + 1}`, async () => {
    const authority = testAuthority();
    using certificates = certificateFolder(authority);
    await using plain = await serve();
    await using secure = await serve({ tls: authority.serverTls() });
    for (const server of [plain, secure]) fill(server);
    const ported = code
      .replaceAll("127.0.0.1:5473", `127.0.0.1:${plain.address.port}`)
      .replaceAll("127.0.0.1:5474", `127.0.0.1:${secure.address.port}`)
      .replaceAll("certs/", `${certificates.folder}/`);
    const flags = ["--conditions=cattail-source", "--input-type=module-typescript", "--eval", ported];
    const { stdout } = await run(process.execPath, flags, { timeout: 300_000 });
    match(stdout, prints[index] ?? /never/);
  });
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
