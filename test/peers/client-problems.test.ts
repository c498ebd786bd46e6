// What a program hears of a connection that does not come about: the right code for each mistake, at once for whoever asks
// not to wait for what waiting cannot mend, and everything else once the mistake is mended.
import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { test } from "node:test";
import {
  CattailError,
  type FollowOptions,
  follow,
  type ProblemUpdate,
  Snapshot,
  syncStatus,
} from "../../src/typha/client/index.ts";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { freePort } from "../kit/free-port.ts";
import { startGoServer, withoutGoServer } from "../kit/go-server.ts";
import { serve } from "../kit/serving.ts";

const ours = testAuthority();
const others = testAuthority("Another CA");
const day = 86_400_000;

type ServerTls = ReturnType<typeof ours.serverTls>;
type Case = {
  name: string;
  code: string;
  /** "away": nobody listens. "plain": a server without TLS. */
  broken: "away" | "plain" | ServerTls;
  mended: "plain" | ServerTls;
  isPlainClient?: boolean;
  /** Whose certificate the client shows; its CA file is ours. */
  shows?: typeof ours;
  /** False: waiting may help, so that it is never thrown. */
  isSetup: boolean;
};

const cases: Case[] = [
  { name: "nobody listens", code: "CLIENT_DIAL", broken: "away", mended: ours.serverTls(), isSetup: false },
  {
    name: "nobody listens, without TLS",
    code: "CLIENT_DIAL",
    broken: "away",
    mended: "plain",
    isPlainClient: true,
    isSetup: false,
  },
  {
    name: "a server of another CA",
    code: "CLIENT_SERVER_CERTIFICATE",
    broken: others.serverTls(),
    mended: ours.serverTls(),
    isSetup: true,
  },
  {
    name: "a server of another name",
    code: "CLIENT_SERVER_CERTIFICATE",
    broken: ours.serverTls({ names: { commonName: "typha" } }),
    mended: ours.serverTls(),
    isSetup: true,
  },
  {
    name: "a server whose certificate has expired",
    code: "CLIENT_SERVER_CERTIFICATE",
    broken: ours.serverTls({ nowMs: Date.now() - 2 * day, notAfterMs: Date.now() - day }),
    mended: ours.serverTls(),
    isSetup: true,
  },
  {
    name: "a server without TLS",
    code: "CLIENT_TLS_MISMATCH",
    broken: "plain",
    mended: ours.serverTls(),
    isSetup: true,
  },
  {
    name: "a server with TLS, for a client without",
    code: "CLIENT_TLS_MISMATCH",
    broken: ours.serverTls(),
    mended: "plain",
    isPlainClient: true,
    isSetup: true,
  },
  {
    name: "a server that does not accept our certificate",
    code: "CLIENT_CONNECTION_ENDED", // it hangs up without saying why
    broken: ours.serverTls(),
    mended: { ...ours.serverTls(), material: { ...ours.serverMaterial(), ca: others.pair.certPem } },
    shows: others,
    isSetup: true,
  },
];

for (const { name, code, broken, mended, isPlainClient = false, shows = ours, isSetup } of cases) {
  test(`${name}: it is said with code and next step, and over when it is mended`, async () => {
    using folder = certificateFolder(ours);
    using shown = certificateFolder(shows);
    const port = await freePort();
    const options = optionsOf({ port, isPlainClient, files: { ...shown.client, caFile: folder.client.caFile } });
    await using stack = new AsyncDisposableStack();
    const first = broken === "away" ? undefined : stack.use(await start(broken, port));
    const problems: ProblemUpdate[] = [];
    let isMended = false;
    let status: number | undefined;
    for await (const update of follow({ ...options, withProblems: true, failsOnBadSetup: !isSetup })) {
      if (update.is === "problem") problems.push(update);
      // Longer than it takes to give up, where it does not.
      if (problems.length === (isSetup ? 1 : 4) && !isMended) {
        isMended = true;
        await first?.[Symbol.asyncDispose]();
        stack.use(await start(mended, port));
      }
      if (update.is === "status") status = update.status;
      if (status === syncStatus.inSync) break;
    }
    const [problem] = problems;
    ok(problem !== undefined);
    equal(problem.code, code, problem.problem);
    match(problem.problem, new RegExp(`127\\.0\\.0\\.1:${port}: `));
    ok(problem.next.length > 20);
    deepEqual(
      problems.map(({ failures }) => failures),
      problems.map((_, index) => index + 1),
    );
  });

  if (isSetup && broken !== "away")
    test(`${name}: it is thrown, for whoever asks for that`, async () => {
      using folder = certificateFolder(ours);
      using shown = certificateFolder(shows);
      const port = await freePort();
      await using _server = await start(broken, port);
      const options = optionsOf({ port, isPlainClient, files: { ...shown.client, caFile: folder.client.caFile } });
      await rejects(
        async () => {
          for await (const update of follow({ ...options, failsOnBadSetup: true })) ok(update.is !== "set");
        },
        (error) => error instanceof CattailError && error.code === code && error.next !== "",
      );
      await using snapshot = Snapshot.open({ ...options, failsOnBadSetup: true });
      await rejects(snapshot.inSync(), { code });
    });
}

const goCases: { name: string; code: string; server: "plain" | "tls"; client: "plain" | "tls" | "another CA's" }[] = [
  { name: "refuses our certificate", code: "CLIENT_CERTIFICATE_REFUSED", server: "tls", client: "another CA's" },
  { name: "has no TLS", code: "CLIENT_TLS_MISMATCH", server: "plain", client: "tls" },
  { name: "has TLS, where we have none", code: "CLIENT_TLS_MISMATCH", server: "tls", client: "plain" },
];
for (const { name, code, server, client } of goCases) {
  test(`a Go server that ${name} is told by its code`, { skip: withoutGoServer }, async () => {
    using folder = certificateFolder(ours);
    using other = certificateFolder(others);
    const { certFile, keyFile, caFile } = folder.server;
    await using go = await startGoServer(
      server === "tls" ? ["--cert", certFile, "--key", keyFile, "--ca", caFile] : [],
    );
    go.say({ status: 2 });
    const files = client === "tls" ? folder.client : { ...other.client, caFile };
    const tls = client === "plain" ? {} : { tls: { ...files, server: { commonName: "calico-typha" } } };
    await using snapshot = Snapshot.open({ servers: go.address, ...tls, failsOnBadSetup: true, random: () => 0 });
    await rejects(snapshot.inSync(), { code });
  });
}

test("one server that can never be followed does not stop it where another can", async () => {
  using folder = certificateFolder(ours);
  await using bad = await start(others.serverTls(), await freePort());
  await using good = await start(ours.serverTls(), await freePort());
  const options = optionsOf({ port: good.address.port, isPlainClient: false, files: folder.client });
  const servers = [`127.0.0.1:${bad.address.port}`, `127.0.0.1:${good.address.port}`];
  await using snapshot = Snapshot.open({ ...options, servers, failsOnBadSetup: true });
  await snapshot.inSync();
  equal(snapshot.problem, undefined);
});

test("a certificate file that is not there is thrown, for whoever asks for that", async () => {
  using folder = certificateFolder(ours);
  await using server = await start(ours.serverTls(), await freePort());
  const files = { ...folder.client, certFile: `${folder.folder}/none.crt` };
  const options = optionsOf({ port: server.address.port, isPlainClient: false, files });
  await using snapshot = Snapshot.open({ ...options, failsOnBadSetup: true });
  await rejects(snapshot.inSync(), { code: "TLS_FILE_UNREADABLE" });
});

test("a live map has the problem while there is no connection", async () => {
  const port = await freePort();
  await using snapshot = Snapshot.open(optionsOf({ port, isPlainClient: true }));
  await snapshot.until(() => snapshot.problem !== undefined);
  equal(snapshot.problem?.code, "CLIENT_DIAL");
  await using _server = await start("plain", port);
  await snapshot.inSync();
  equal(snapshot.problem, undefined);
});

test("a discovery that fails is a problem, too, and is asked again", async () => {
  await using server = await start("plain", await freePort());
  let isFirst = true;
  const discovery = async () => {
    if (!isFirst) return [{ host: "127.0.0.1", port: server.address.port }];
    isFirst = false;
    throw new Error("no such cluster");
  };
  const seen: string[] = [];
  for await (const update of follow({ servers: discovery, withProblems: true })) {
    if (update.is === "problem") seen.push(`${update.code}: ${update.problem}`);
    if (update.is === "status" && update.status === syncStatus.inSync) break;
  }
  deepEqual(seen, ["CLIENT_DISCOVERY: the discovery of servers failed: no such cluster"]);
});

test("whoever does not ask for problems gets none", async () => {
  const stop = new AbortController();
  const log = { debug() {}, info() {}, error() {}, warn: () => stop.abort() };
  const options = optionsOf({ port: await freePort(), isPlainClient: true });
  for await (const update of follow({ ...options, log, signal: stop.signal })) ok(false, JSON.stringify(update));
});

type Files = ReturnType<typeof certificateFolder>["client"];

function optionsOf({ port, isPlainClient, files }: { port: number; isPlainClient: boolean; files?: Files }) {
  const tls = files === undefined || isPlainClient ? {} : { tls: { ...files, server: { commonName: "calico-typha" } } };
  return { servers: `127.0.0.1:${port}`, ...tls, random: () => 0 } satisfies FollowOptions;
}

async function start(how: "plain" | ServerTls, port: number) {
  const server = await serve({ listen: { host: "127.0.0.1", port }, ...(how === "plain" ? {} : { tls: how }) });
  server.set({ "/calico/v1/Ready": "true" });
  server.status(syncStatus.inSync);
  return server;
}
