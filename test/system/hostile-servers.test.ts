// An agent that was told what holds, and then meets a Typha or an API server that is somebody else's, or out of its mind: it keeps what it knows, says that
// it is not ready and why, asks nobody that it was not told to ask, and goes on when an honest server is back.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type KvUpdate, updateType } from "../../src/calico/model/index.ts";
import { afterTest } from "../kit/after-test.ts";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { eventually } from "../kit/eventually.ts";
import { startListeningAgent } from "../kit/listening-agent.ts";
import { startTyphaStub } from "../kit/typha-stub.ts";

const options = { timeout: 300_000 };
const path = "/calico/v1/netset/a";
const known: KvUpdate = {
  path,
  value: '{"nets":["10.0.0.0/8"]}',
  revision: "1",
  v3ResourceVersion: "1",
  type: updateType.new,
};
const data = () => ({ snapshot: [known], changes: [] });

type Behaviour = (socket: Socket) => void;
const forwardTo =
  (port: number): Behaviour =>
  (socket) => {
    const onward = connect(port, "127.0.0.1");
    onward.on("error", () => socket.destroy());
    socket.on("close", () => onward.destroy());
    socket.pipe(onward).pipe(socket);
  };

/** One address that changes its behaviour, for connections that are open, too. */
async function startFront(t: TestContext, first: Behaviour) {
  const sockets = new Set<Socket>();
  const front = { port: 0, asked: 0, behaviour: first };
  const server = createServer((socket) => {
    front.asked += 1;
    sockets.add(socket.on("error", () => undefined).on("close", () => sockets.delete(socket)));
    front.behaviour(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  front.port = (server.address() as AddressInfo).port;
  const drop = () => {
    for (const socket of sockets) socket.destroy();
  };
  afterTest(t).defer(() => {
    drop();
    server.close();
  });
  return Object.assign(front, {
    become(behaviour: Behaviour) {
      front.asked = 0;
      front.behaviour = behaviour;
      drop();
    },
  });
}

/** Says it again until the client has had enough. */
const saying =
  (bytes: Uint8Array): Behaviour =>
  (socket) =>
    void socket.write(bytes);
const random = Uint8Array.from({ length: 1 << 16 }, (_, index) => (index * 7919 + (index >> 3)) & 0xff);
const hostile: { readonly name: string; readonly behaviour: Behaviour }[] = [
  { name: "hangs up at once", behaviour: (socket) => socket.destroy() },
  { name: "speaks HTTP", behaviour: saying(Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<html>\r\n")) },
  { name: "sends noise", behaviour: saying(random) },
  { name: "announces a message of 2^63 bytes", behaviour: saying(Uint8Array.of(0xf8, 0x7f, ...Array(7).fill(0xff))) },
  { name: "announces nothing, endlessly", behaviour: saying(new Uint8Array(1 << 20)) },
  { name: "sends back what it is sent", behaviour: (socket) => void socket.pipe(socket) },
];

test(
  "a hostile Typha: what is known stays in force, not ready is said, and an honest one is followed again",
  options,
  async (t) => {
    const scope = afterTest(t);
    const stub = scope.use(await startTyphaStub({ data }));
    const honest = forwardTo(stub.port);
    const front = await startFront(t, honest);
    const agent = await startListeningAgent(t, { FELIX_TYPHAADDR: `127.0.0.1:${front.port}` });
    await agent.ready("with the honest one");
    for (const { name, behaviour } of hostile) {
      const before = process.memoryUsage.rss();
      front.become(behaviour);
      await eventually(() => front.asked > 1, `it has asked again one that ${name}`);
      const { isReady, text } = await agent.readiness();
      equal(isReady, false, name);
      match(text, /CalculationGraph .*(Typha|connection)/, name);
      deepEqual([...agent.part.keys.keys()], [path], name);
      equal(agent.part.starts, 1, name);
      ok(process.memoryUsage.rss() - before < 200 << 20, `${name}: ${process.memoryUsage.rss() - before} bytes more`);
    }
    front.become(honest);
    await agent.ready("with the honest one again");
    deepEqual([...agent.part.keys.keys()], [path]);
  },
);

test(
  "a Typha of somebody else's CA, or with another name, is told nothing and believed nothing",
  options,
  async (t) => {
    const scope = afterTest(t);
    const authority = testAuthority();
    const certificates = scope.use(certificateFolder(authority));
    const others = scope.use(certificateFolder(testAuthority("Somebody else's")));
    const tlsOf = ({ server }: typeof certificates) => ({
      cert: readFileSync(server.certFile),
      key: readFileSync(server.keyFile),
      ca: readFileSync(certificates.client.caFile),
      requestCert: true,
    });
    const lies = () => ({ snapshot: [{ ...known, path: "/calico/v1/netset/lie" }], changes: [] });
    const stub = scope.use(await startTyphaStub({ data, tls: tlsOf(certificates) }));
    const foreign = scope.use(await startTyphaStub({ data: lies, tls: tlsOf(others) }));
    // A certificate of the right CA for a node: any node could show it.
    const { certPem: cert, keyPem: key } = authority.client({ isForBothRoles: true });
    const node = scope.use(await startTyphaStub({ data: lies, tls: { ...tlsOf(certificates), cert, key } }));
    const front = await startFront(t, forwardTo(stub.port));
    const agent = await startListeningAgent(t, {
      FELIX_TYPHAADDR: `127.0.0.1:${front.port}`,
      FELIX_TYPHACAFILE: certificates.client.caFile,
      FELIX_TYPHACERTFILE: certificates.client.certFile,
      FELIX_TYPHAKEYFILE: certificates.client.keyFile,
      FELIX_TYPHACN: "calico-typha",
    });
    await agent.ready("with the honest one");
    for (const impostor of [foreign, node]) {
      front.become(forwardTo(impostor.port));
      await eventually(() => front.asked > 1, "it has asked the impostor twice");
      equal((await agent.readiness()).isReady, false);
      deepEqual([...agent.part.keys.keys()], [path]);
      deepEqual(impostor.agreements, []);
    }
    front.become(forwardTo(stub.port));
    await agent.ready("with the honest one again");
  },
);

test(
  "a hostile API server: refused in words, never followed elsewhere, and an honest one is believed again",
  options,
  async (t) => {
    const folder = mkdtempSync(join(tmpdir(), "cattail-hostile-"));
    afterTest(t).defer(() => rmSync(folder, { recursive: true, force: true }));
    const elsewhere: string[] = [];
    const trap = createHttpServer((request, response) => {
      elsewhere.push(String(request.headers.authorization));
      response.end("{}");
    });
    const answers: { readonly name: string; readonly answer: (response: ServerResponse) => void }[] = [
      { name: "a page", answer: (to) => void to.end("<html>") },
      { name: "null", answer: (to) => void to.end("null") },
      { name: "lists of lists", answer: (to) => void to.end(`${"[".repeat(100_000)}${"]".repeat(100_000)}`) },
      {
        name: "items that are none",
        answer: (to) => void to.end('{"items":[null,1,"x",[],{"metadata":7}],"metadata":{"resourceVersion":"1"}}'),
      },
      {
        name: "names that lead out",
        answer: (to) =>
          void to.end(
            '{"items":[{"metadata":{"name":"../../etc","namespace":"__proto__","resourceVersion":"1"}}],"metadata":{"resourceVersion":"1"}}',
          ),
      },
      {
        name: "a redirect",
        answer: (to) => void to.writeHead(307, { location: `http://127.0.0.1:${portOf(trap)}/` }).end(),
      },
      {
        name: "half an answer",
        answer: (to) => void to.writeHead(200, { "content-length": 1_000_000 }).write("{", () => to.destroy()),
      },
      {
        name: "an error of a million characters",
        answer: (to) => void to.writeHead(500).end("\u001b[2J".repeat(250_000)),
      },
    ];
    let [at, asked] = [0, 0];
    const server = createHttpServer((_, response) => {
      asked += 1;
      answers[at]?.answer(response);
    });
    for (const each of [server, trap]) await new Promise<void>((resolve) => each.listen(0, "127.0.0.1", resolve));
    afterTest(t).defer(() => {
      for (const each of [server, trap]) {
        each.closeAllConnections();
        each.close();
      }
    });
    const config = {
      clusters: [{ name: "c", cluster: { server: `http://127.0.0.1:${portOf(server)}` } }],
      users: [{ name: "u", user: { token: "a-token" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      "current-context": "x",
    };
    writeFileSync(join(folder, "kubeconfig"), JSON.stringify(config));
    const agent = await startListeningAgent(t, {
      DATASTORE_TYPE: "kubernetes",
      KUBECONFIG: join(folder, "kubeconfig"),
    });
    for (const [index, { name }] of answers.entries()) {
      [at, asked] = [index, 0];
      await eventually(() => asked > 2, `it has asked for ${name}`);
      const { isReady, text } = await agent.readiness();
      equal(isReady, false, name);
      ok(!text.includes("\u001b"), `${name}: a control character came through`);
      ok(text.length < 20_000, `${name}: ${text.length} characters of health`);
      ok(!text.includes("a-token"), name);
    }
    deepEqual(elsewhere, [], "nobody else was asked");
    equal(agent.part.starts, 1);
  },
);

function portOf(server: { address(): unknown }): number {
  return (server.address() as AddressInfo).port;
}
