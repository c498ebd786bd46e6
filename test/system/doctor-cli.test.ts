// `cattail doctor` as a process: its exit codes, its two outputs, and the node's variables in place of flags.
import { deepEqual, equal, match } from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { type CattailOptions, cattail, type Ended } from "../kit/cattail-process.ts";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { freePort } from "../kit/free-port.ts";
import { startGoServer, withoutGoServer } from "../kit/go-server.ts";
import { nodeVariables } from "../kit/node-variables.ts";
import { serve } from "../kit/serving.ts";

function doctor(parameters: readonly string[], env: CattailOptions["env"] = {}): Promise<Ended> {
  return cattail(["doctor", ...parameters], { env });
}

const quick = ["--observe", "0.1"];

test("doctor: exit code 0 and no colours for a healthy server, found by the node's variables", async () => {
  const authority = testAuthority();
  using folder = certificateFolder(authority);
  await using server = await serve({ tls: authority.serverTls() });
  server.set({ "/calico/v1/Ready": "true" });
  server.status(2);
  const env = nodeVariables(server, folder.client);
  const { code, stdout, stderr } = await doctor(["--server", `127.0.0.1:${server.address.port}`, ...quick], env);
  deepEqual([code, stderr], [0, ""]);
  match(stdout, /All is well: 9 checks passed\.\n$/);
  equal(stdout.includes("\u001b"), false);
});

test("doctor: exit code 1 and data for servers whose versions differ", async () => {
  await using one = await serve({ version: "v1" });
  await using other = await serve({ version: "v2" });
  const flags = [one, other].flatMap((server) => {
    server.set({ "/calico/v1/Ready": "true" });
    server.status(2);
    return ["--server", `127.0.0.1:${server.address.port}`];
  });
  const { code, stdout } = await doctor([...flags, "--plaintext", "-o", "json", ...quick]);
  equal(code, 1);
  const report = JSON.parse(stdout) as { exitCode: number; findings: { code?: string }[]; servers: { keys: number }[] };
  deepEqual(
    report.findings.flatMap((finding) => finding.code ?? []),
    ["SERVERS_DIFFER_VERSIONS"],
  );
  deepEqual([report.exitCode, report.servers.map(({ keys }) => keys)], [1, [1, 1]]);
});

test("doctor: exit code 2 where nobody listens, where it is asked wrongly, and for settings that are wrong", async () => {
  equal((await doctor(["--server", "127.0.0.1:1", "--plaintext"])).code, 2);
  const wrong = await doctor(["--server", "a b", "--plaintext"]);
  equal(wrong.code, 2);
  match(wrong.stderr, /CLIENT_ADDRESS/);
  equal((await doctor(["--observe", "-1"])).code, 2, "1 would mean that there are warnings");
  const settings = await doctor([], { TYPHA_SERVERPORT: "none of your business" });
  equal(settings.code, 2);
  match(settings.stdout, /SETTINGS_INVALID/);
});

test("doctor: TLS files of the server itself, before it starts", async () => {
  const authority = testAuthority();
  using folder = certificateFolder(authority);
  writeFileSync(folder.server.certFile, authority.server({ notAfterMs: Date.now() + 86_400_000 }).certPem);
  const env = {
    TYPHA_DATASTORETYPE: "memory",
    TYPHA_SERVERPORT: `${await freePort()}`,
    TYPHA_CAFILE: folder.server.caFile,
    TYPHA_SERVERCERTFILE: folder.server.certFile,
    TYPHA_SERVERKEYFILE: folder.server.keyFile,
    TYPHA_CLIENTCN: "calico-node",
  };
  const { code, stdout } = await doctor(["-o", "json"], env);
  equal(code, 2);
  const { findings } = JSON.parse(stdout) as { findings: { section: string; code?: string }[] };
  deepEqual(
    findings.filter(({ section }) => section === "TLS files").map((finding) => finding.code),
    ["TLS_KEY_MISMATCH"],
  );
});

test("doctor: a Go server that does not know our CA is heard to say so", { skip: withoutGoServer }, async () => {
  const authority = testAuthority();
  using folder = certificateFolder(authority);
  using strangers = certificateFolder(testAuthority("Strangers' CA"));
  const { certFile, keyFile } = folder.server;
  await using go = await startGoServer(["--cert", certFile, "--key", keyFile, "--ca", strangers.server.caFile]);
  const { client } = folder;
  const tls = ["--ca", client.caFile, "--cert", client.certFile, "--key", client.keyFile];
  const { code, stdout } = await doctor(["--server", go.address, ...tls, ...quick]);
  equal(code, 2);
  match(stdout, /CLIENT_REFUSED/);
});

test("doctor path: a datastore that cannot be reached is said, and not that there is no such pod", async () => {
  const { code, stderr } = await doctor(["path", "shop/web", "shop/db", "--etcd", "http://127.0.0.1:1"]);
  equal(code, 2);
  match(stderr, /^cattail: the datastore cannot be read: .*ECONNREFUSED.*\nCheck that its server runs/);
});
