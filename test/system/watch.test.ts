// `cattail watch` as a process, against a server of ours.

import { deepEqual, equal, match } from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { cattail } from "../kit/cattail-process.ts";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { nodeVariables } from "../kit/node-variables.ts";
import { serve, type TestServer } from "../kit/serving.ts";

async function example(): Promise<TestServer> {
  const server = await serve();
  server.set({
    "/calico/v1/config/LogSeverity": "true",
    "/calico/v1/policy/tier/default/metadata": '{"order":100}',
    "/calico/ipam/v2/assignment/ipv4/block/10.0.0.0-26": '{"sequenceNumber":1723456789012345678}',
  });
  server.status(2);
  return server;
}

const plainly = (server: TestServer) => ["--server", `127.0.0.1:${server.address.port}`, "--plaintext"];

test("watch: JSON lines until in sync, values exactly as they came", async () => {
  await using server = await example();
  const { code, stdout, stderr } = await cattail(["watch", ...plainly(server), "-o", "json", "--until", "in-sync"]);
  deepEqual([code, stderr], [0, ""]);
  const lines = stdout.trimEnd().split("\n");
  equal(lines[0], '{"status":"resync"}');
  equal(lines.at(-1), '{"status":"in-sync"}');
  const values = lines.slice(1, -1).map((line) => /"kind":"(\w+)","value":(.*?),"revision"/.exec(line)?.slice(1));
  deepEqual(values.sort(), [
    ["Block", '{"sequenceNumber":1723456789012345678}'],
    ["GlobalConfig", '"true"'],
    ["Tier", '{"order":100}'],
  ]);
});

test("watch: only the keys asked for", async () => {
  await using server = await example();
  const flags = ["-o", "json", "--until", "in-sync", "--keys", "/calico/v1/config/*"];
  const { stdout } = await cattail(["watch", ...plainly(server), ...flags]);
  deepEqual(
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => Object.keys(JSON.parse(line) as object)[0]),
    ["status", "set", "status"],
  );
});

test("watch: totals", async () => {
  await using server = await example();
  const { code, stdout } = await cattail(["watch", ...plainly(server), "--until", "in-sync", "--stats"]);
  equal(code, 0);
  match(stdout, /^KIND +KEYS +BYTES\n(?:\w+ +1 +\d+\n){3}all +3 +55\nin sync; 3 updates in /);
});

test("watch: changes as they happen, over mutual TLS set up by the node's variables, and Ctrl-C", async () => {
  const authority = testAuthority();
  using folder = certificateFolder(authority);
  await using server = await serve({ tls: authority.serverTls() });
  server.status(2);
  const env = nodeVariables(server, folder.client);
  const child = spawn(process.execPath, ["bin/cattail", "watch"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => String((await lines.next()).value).slice(10);
  equal(await next(), "receiving the snapshot");
  equal(await next(), "in sync: 0 keys");
  server.set({ "/calico/v1/config/a": "12345" });
  match(await next(), /^new +GlobalConfig +5 B {2}\/calico\/v1\/config\/a$/);
  server.delete(["/calico/v1/config/a"]);
  match(await next(), /^deleted +GlobalConfig +\/calico\/v1\/config\/a$/);
  const exited = once(child, "exit");
  child.kill("SIGINT");
  deepEqual(await exited, [0, null]);
});

test("watch: over mutual TLS with the folder that `cattail certs` makes", async () => {
  const authority = testAuthority();
  using folder = certificateFolder(authority);
  await using server = await serve({ tls: authority.serverTls() });
  server.status(2);
  const flags = ["--server", `127.0.0.1:${server.address.port}`, "--certs", folder.folder, "--until", "in-sync"];
  const { code, stdout, stderr } = await cattail(["watch", ...flags, "-o", "json"]);
  deepEqual([code, stderr], [0, ""]);
  match(stdout, /"in-sync"/);
  const servers = ["--cert", folder.server.certFile, "--key", folder.server.keyFile];
  const refused = await cattail(["watch", ...flags, ...servers]); // named files go before the folder's
  equal(refused.code, 1, refused.stdout);
});

test("watch: a reader that has seen enough ends it without complaint", async () => {
  await using server = await example();
  const child = spawn(process.execPath, ["bin/cattail", "watch", ...plainly(server), "-o", "json"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let complaint = "";
  child.stderr.on("data", (text: Buffer) => {
    complaint += text.toString();
  });
  await once(child.stdout, "data");
  child.stdout.destroy();
  const exited = once(child, "exit");
  const more = setInterval(() => server.set({ "/calico/v1/config/more": `${performance.now()}` }), 20);
  deepEqual([(await exited)[0], complaint], [0, ""]);
  clearInterval(more);
});

test("watch: a server that wants TLS is suspected of it", async () => {
  const authority = testAuthority();
  const tls = { ...authority.serverTls(), requirement: { commonName: "x" } };
  await using server = await serve({ tls });
  const { code, stderr } = await cattail(["watch", ...plainly(server)]);
  equal(code, 1);
  match(stderr, /closed the connection before its hello.*A server that requires TLS closes/s);
});

const mistakes: { name: string; flags: string[]; says: RegExp }[] = [
  { name: "no server", flags: [], says: /FELIX_TYPHAADDR.*\(WATCH_NO_SERVER\)/ },
  { name: "half of the TLS files", flags: ["--server", "h:1", "--ca", "x"], says: /--cert and --key are missing/ },
  { name: "no TLS files", flags: ["--server", "h:1"], says: /none of them is given.*\n.*--certs FOLDER.*--plaintext/ },
  {
    name: "certificates for a connection without TLS",
    flags: ["--server", "h:1", "--plaintext", "--certs", "x"],
    says: /--plaintext asks for a connection without TLS, and --certs is for one with TLS.*\n.*CLIENT_TLS_CONTRADICTION/,
  },
  { name: "no address", flags: ["--server", "a b", "--plaintext"], says: /CLIENT_ADDRESS/ },
  {
    name: "nobody there",
    flags: ["--server", "127.0.0.1:1", "--plaintext"],
    says: /^cattail: trying again: [^\n]*127\.0\.0\.1:1: nobody listens there \(ECONNREFUSED\)\ncattail: [^\n]*ECONNREFUSED[^\n]*\n[^\n]*cattail doctor --server 127.0.0.1:1 --plaintext"[^\n]*\n$/,
  },
  {
    name: "nobody at any of two, each once,",
    flags: ["--server", "127.0.0.1:1", "--server", "127.0.0.1:2", "--plaintext"],
    says: /^(cattail: trying again: [^\n]*127\.0\.0\.1:[12]: nobody listens there[^\n]*\n){2}cattail: no connection[^\n]*\n[^\n]*\(CLIENT_DIAL\)\n$/,
  },
  {
    name: "a folder of certificates that is not there",
    flags: ["--server", "127.0.0.1:1", "--certs", "no-such-folder"],
    says: /^cattail: .*no-such-folder[^\n]*\n[^\n]*\(TLS_FILE_UNREADABLE\)\n$/,
  },
];
for (const { name, flags, says } of mistakes) {
  test(`watch: ${name} is said, with what to do`, async () => {
    const { code, stderr } = await cattail(["watch", ...flags]);
    equal(code, 1);
    match(stderr, says);
  });
}
