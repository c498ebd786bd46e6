// The probes of a `cattail typha` process, as a kubelet asks them, while things go wrong: an accept loop that hangs, a
// certificate that expires, a datastore that is not there yet, goes away and comes back.
import { equal, match, ok } from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { Cattail, probe } from "../kit/cattail-process.ts";
import { certificateFolder, testAuthority } from "../kit/certificates.ts";
import { etcdMissing, startEtcd } from "../kit/etcd.ts";
import { canListen, freePort } from "../kit/free-port.ts";
import { type TyphaEnvironment, tlsSettings, typhaSettings } from "../kit/typha-settings.ts";

const options = { timeout: 300_000 };
const noEtcd = (await etcdMissing()) ?? false;
const noIpv6 = (await canListen({ port: 0, host: "::1" })) ? false : "this machine has no IPv6 loopback";

async function start(more: TyphaEnvironment = {}) {
  const env = await typhaSettings(more);
  const typha = new Cattail(["typha"], { env });
  const ask = (path: string, host = env.TYPHA_HEALTHHOST) =>
    probe(`http://${host?.includes(":") ? `[${host}]` : host}:${env.TYPHA_HEALTHPORT}${path}`);
  const isReady = (wanted: number, body: RegExp = /COMPONENT/) =>
    typha.until(`readiness ${wanted} with ${body}`, async () => {
      const answer = await ask("/readiness");
      return answer?.status === wanted && body.test(answer.body) ? answer : undefined;
    });
  return { typha, ask, isReady, port: env.TYPHA_HEALTHPORT, [Symbol.asyncDispose]: () => typha[Symbol.asyncDispose]() };
}

// Side by side: most of it is waiting for times to pass.
describe("probes", { concurrency: true }, () => {
  for (const workers of [1, 3]) {
    test(
      `an accept loop hangs, one of ${workers}: not ready after 30 s, still live, ready again when it goes on`,
      options,
      () => hang(workers),
    );
  }

  async function hang(workers: number): Promise<void> {
    using certificates = certificateFolder();
    // Holds the first worker thread for as long as the file is there; the main thread, which answers the probes, goes on.
    const file = join(certificates.folder, "freeze");
    const hook = `
    import { existsSync } from "node:fs";
    import { workerData } from "node:worker_threads";
    const pause = new Int32Array(new SharedArrayBuffer(4));
    const hold = () => { while (existsSync(${JSON.stringify(file)})) Atomics.wait(pause, 0, 0, 50); };
    if (workerData?.number === 1) setInterval(hold, 50).unref();`;
    const env = {
      ...tlsSettings(certificates),
      TYPHA_WORKERS: `${workers}`,
      NODE_OPTIONS: `--import=data:text/javascript;base64,${Buffer.from(hook).toString("base64")}`,
    };
    await using server = await start(env);
    await server.isReady(200);
    writeFileSync(file, "");
    // The dials may all have reached one of the others.
    await server.isReady(503, /self-dial .*(own port gets no answer|threads that serve clients hangs)/);
    equal((await server.ask("/liveness"))?.status, 200);
    rmSync(file);
    await server.isReady(200);
  }

  test("a certificate that expires: not ready, with the reason; still live; a new one makes it ready", {
    ...options,
  }, async () => {
    const authority = testAuthority();
    using certificates = certificateFolder(authority);
    const put = ({ certPem, keyPem }: { certPem: string; keyPem: string }) => {
      writeFileSync(certificates.server.keyFile, keyPem);
      writeFileSync(certificates.server.certFile, certPem);
    };
    // Long enough to start in, on any machine.
    put(authority.server({ notAfterMs: Date.now() + 25_000 }));
    await using server = await start(tlsSettings(certificates));
    await server.isReady(503, /tls-files .*expired/);
    equal((await server.ask("/liveness"))?.status, 200);
    put(authority.server());
    await server.isReady(200);
  });

  test("a datastore that is not there yet, comes, goes and comes back", { ...options, skip: noEtcd }, async () => {
    await using etcd = await startEtcd();
    const [member] = etcd.members;
    await member?.kill();
    await using server = await start({
      TYPHA_DATASTORETYPE: "etcdv3",
      TYPHA_ETCDENDPOINTS: member?.url ?? "",
      TYPHA_STALESERVERTIMEOUTSECS: "2",
    });
    await server.typha.says(/The datastore does not answer; trying again/);
    await server.isReady(503, /felix-cache .*reporting non-ready/);
    equal((await server.ask("/liveness"))?.status, 200);
    await member?.restart();
    await server.isReady(200);
    await member?.kill();
    // Nobody else serves: what is there is better than nothing, and a restart would cure nothing.
    await server.typha.says(/The datastore is out of reach and so is every peer/);
    equal((await server.ask("/readiness"))?.status, 200);
    equal((await server.ask("/liveness"))?.status, 200);
    await member?.restart();
    await server.typha.says(/The datastore answers again/);
    equal((await server.ask("/readiness"))?.status, 200);
  });

  const hosts: { host: string; answers: string[]; silent: string[]; skip: string | false }[] = [
    { host: "127.0.0.1", answers: ["127.0.0.1"], silent: ["[::1]", "127.0.0.2"], skip: false },
    { host: "::1", answers: ["[::1]"], silent: ["127.0.0.1"], skip: noIpv6 },
    { host: "localhost", answers: ["127.0.0.1", "[::1]"], silent: ["127.0.0.2"], skip: noIpv6 },
    { host: "0.0.0.0", answers: ["127.0.0.1"], silent: [], skip: false },
  ];
  for (const { host, answers, silent, skip } of hosts) {
    test(`TYPHA_HEALTHHOST=${host} answers on ${answers.join(" and ")}`, { ...options, skip }, async () => {
      await using server = await start({ TYPHA_HEALTHHOST: host, TYPHA_HEALTHPORT: `${await freePort("0.0.0.0")}` });
      for (const address of answers) {
        const url = `http://${address}:${server.port}/liveness`;
        const { status } = await server.typha.until(url, () => probe(url));
        equal(status, 200);
      }
      for (const address of silent) equal(await probe(`http://${address}:${server.port}/liveness`), undefined, address);
    });
  }

  test("JSON for those who ask for it, with every part's report; the table for everybody else", options, async () => {
    await using server = await start();
    match((await server.isReady(200)).type ?? "", /^text\/plain/);
    const url = `http://127.0.0.1:${server.port}/readiness`;
    const answer = await probe(url, { accept: "application/json" });
    match(answer?.type ?? "", /^application\/json/);
    const { ready, live, components } = JSON.parse(answer?.body ?? "") as {
      ready: boolean;
      live: boolean;
      components: { name: string; ready: string }[];
    };
    equal(ready && live, true);
    for (const name of ["SyncServer", "felix-cache", "tls-files", "self-dial", "datastore", "rights"])
      ok(
        components.some((one) => one.name === name),
        name,
      );
  });
});
