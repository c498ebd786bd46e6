// Every file that the agent, the plugins and the installer write as root, with a link in its place that leads to a file of somebody else: that file must
// stay as it is. Some of the folders belong to a calico-node that is not root (`node hostpath-init`), who could put such a link there.
import { deepEqual, equal, ok, rejects, throws } from "node:assert/strict";
import {
  existsSync,
  globSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { waitForFlock } from "../../src/base/linux/ffi/flock.ts";
import { answerCalls } from "../../src/base/linux/index.ts";
import { ConfigurationFolder } from "../../src/node/bird/daemon/configuration-folder.ts";
import { cniPart } from "../../src/node/cni/index.ts";
import { upgradeOnce } from "../../src/node/cni/ipam/ipam-plugin.ts";
import { openLogFile } from "../../src/node/cni/plugin/log-file.ts";
import { cniTokenPart } from "../../src/node/cni-token/token-part.ts";
import { EndpointFiles } from "../../src/node/dataplane/status/endpoint-files.ts";
import { readEndpointSettings } from "../../src/node/endpoints/index.ts";
import type { PartWorld } from "../../src/node/part/index.ts";
import { MtuKeeper } from "../../src/node/routes/links/mtu-keeper.ts";
import { ownLogs, writeNameFile, writeShutdownTime } from "../../src/node/startup/folders.ts";
import { install } from "../../src/programs/cni/install/install.ts";
import { prepareFolder } from "../../src/programs/lab/state.ts";
import { takeAgentLock } from "../../src/programs/node/agent-lock.ts";
import { eventually } from "../kit/eventually.ts";
import { FakeClock } from "../kit/fake-clock.ts";
import { recordLog } from "../kit/recorded-log.ts";

const base = mkdtempSync(join(tmpdir(), "cattail-files-of-root-"));
after(() => rmSync(base, { recursive: true, force: true }));
const notRoot = process.getuid?.() === 0 ? false : "needs root: only root may give files away";

type Row = {
  readonly what: string;
  /** The file that writes it. */
  readonly by: string;
  readonly path: string;
  readonly write: (path: string, root: string) => Promise<void>;
  /** Undefined: our file takes the link's place. */
  readonly otherwise?: "the link stays, and nothing is written" | "it fails";
};

const rows: readonly Row[] = [
  {
    what: "the node's name",
    by: "src/node/startup/folders.ts",
    path: "var/lib/calico/nodename",
    write: (path) => writeNameFile(path, "n1"),
  },
  {
    what: "the time of the last shutdown",
    by: "src/node/startup/folders.ts",
    path: "var/lib/calico/shutdownTimestamp",
    write: (path) => writeShutdownTime(path, { clock: systemClock, log: silentLog }),
  },
  {
    what: "the MTU for pods",
    by: "src/node/routes/links/mtu-keeper.ts",
    path: "var/lib/calico/mtu",
    write: (file) =>
      new MtuKeeper({ file, log: silentLog }).keep({
        links: [],
        uplinkPattern: /eth/,
        settings: { pods: undefined, vxlan: {}, ipip: undefined, wireguard: {} } as never, // no encapsulation asks for them
        inUse: [],
        isFileRequired: true,
      }),
  },
  {
    what: "a pod's status",
    by: "src/node/dataplane/status/endpoint-files.ts",
    path: "var/run/calico/endpoint-status/k8s default%2Fweb eth0",
    write: (path) => new EndpointFiles(dirname(path)).write(new Map([["k8s default%2Fweb eth0", "{}"]])),
  },
  {
    what: "BIRD's configuration",
    by: "src/node/bird/daemon/configuration-folder.ts",
    path: "etc/calico/confd/config/bird.cfg",
    write: (path) => putBird(path),
  },
  {
    what: "BIRD's configuration while it is checked",
    by: "src/node/bird/daemon/configuration-folder.ts",
    path: "etc/calico/confd/config/.bird.cfg.candidate",
    write: async (path) => {
      await putBird(path);
      writeFileSync(path, ""); // removed when it was checked
    },
  },
  {
    what: "the plugins' socket",
    by: "src/node/cni/resident/cni-part.ts",
    path: "var/run/calico/cattail/cni.sock",
    write: async (path) => {
      const server = await answerCalls({ path, answer: async () => undefined });
      ok(lstatSync(path).isSocket());
      await server[Symbol.asyncDispose]();
      writeFileSync(path, ""); // the socket is gone with its server
    },
  },
  {
    what: "the plugin's kubeconfig, renewed",
    by: "src/node/cni-token/token-part.ts",
    path: "etc/cni/net.d/calico-kubeconfig",
    write: renewToken,
  },
  {
    what: "the plugin's log",
    by: "src/node/cni/plugin/log-file.ts",
    path: "var/log/calico/cni/cni.log",
    write: async (path) =>
      openLogFile(readEndpointSettings({ name: "net", log_file_path: path }), Date.now)("error", "x"),
    otherwise: "the link stays, and nothing is written",
  },
  {
    what: "the mark that old affinities are upgraded",
    by: "src/node/cni/ipam/ipam-plugin.ts",
    path: "var/run/calico/cni/ipam_upgraded",
    write: async (path) => {
      const configuration = { lockFile: join(dirname(dirname(path)), "ipam.lock") };
      const ipam = { upgradeHost: async () => 0 };
      await upgradeOnce(configuration, ipam, { node: "n1", signal: AbortSignal.timeout(60_000) });
    },
    otherwise: "the link stays, and nothing is written",
  },
  {
    what: "the lock that plugins share",
    by: "src/base/linux/ffi/flock.ts",
    path: "var/run/calico/ipam.lock",
    write: async (path) => waitForFlock(path)[Symbol.dispose](),
    otherwise: "it fails",
  },
  {
    what: "the lock of a node's agent",
    by: "src/programs/node/agent-lock.ts",
    path: "var/run/calico/cattail/agent-felix-1.lock",
    write: async (path) => equal(takeAgentLock(path, silentLog), "cannot be had"),
    otherwise: "the link stays, and nothing is written",
  },
  {
    what: "the network configuration",
    by: "src/programs/cni/install/install.ts",
    path: "etc/cni/net.d/10-calico.conflist",
    write: installAll,
  },
  {
    what: "the plugin's kubeconfig, installed",
    by: "src/programs/cni/install/kubeconfig.ts",
    path: "etc/cni/net.d/calico-kubeconfig",
    write: installAll,
  },
  {
    what: "the plugin's program",
    by: "src/programs/cni/install/programs.ts",
    path: "opt/cni/bin/calico",
    write: installAll,
  },
  {
    what: "etcd's key for the plugin",
    by: "src/programs/cni/install/certificates.ts",
    path: "etc/cni/net.d/calico-tls/etcd-key",
    write: installAll,
  },
];

let machines = 0;
function machine(path: string): { root: string; path: string } {
  machines += 1;
  const root = join(base, `m${machines}`);
  mkdirSync(dirname(join(root, path)), { recursive: true });
  return { root, path: join(root, path) };
}

for (const { what, path: at, write, otherwise } of rows)
  test(`a link in the place of ${what} is not followed`, { skip: notRoot }, async () => {
    const { root, path } = machine(at);
    const victim = join(root, "victim");
    for (const isThere of [true, false]) {
      if (isThere) writeFileSync(victim, "somebody's");
      else rmSync(victim);
      rmSync(path, { force: true });
      symlinkSync(victim, path);
      // A link of our own user may be an operator's: this one is not.
      lchownSync(path, 12_345, 12_345);
      if (otherwise === "it fails") await rejects(async () => await write(path, root));
      else await write(path, root);
      deepEqual(
        readdirSync(root).includes("victim") ? readFileSync(victim, "utf8") : undefined,
        isThere ? "somebody's" : undefined,
      );
      equal(lstatSync(path).isSymbolicLink(), otherwise !== undefined);
    }
  });

test("the table above has every file that writes", () => {
  const writes =
    /\b(?:replaceFile|writeFile|writeFileSync|appendFile|appendFileSync|copyFile|openSync|answerCalls|symlinkSync|createWriteStream|chmodSync|chmod|chown|lchown)\(/;
  const sources = globSync("src/{node,programs/node,programs/cni}/**/*.ts").filter(
    (file) => !file.endsWith(".test.ts"),
  );
  const writers = sources.filter((file) => writes.test(readFileSync(file, "utf8")));
  deepEqual(writers.sort(), [...new Set(rows.map(({ by }) => by).filter((by) => !by.startsWith("src/base/")))].sort());
});

test("folders are given to another user without following his links", { skip: notRoot }, async () => {
  const { root, path } = machine("var/log/calico/cni");
  const victims = join(root, "victims");
  for (const folder of [victims, path]) mkdirSync(folder);
  for (const file of [join(victims, "shadow"), join(path, "cni.log")]) writeFileSync(file, "");
  symlinkSync(join(victims, "shadow"), join(path, "link"));
  await ownLogs(path, 12_345);
  deepEqual(
    [path, join(path, "cni.log"), join(path, "link"), victims, join(victims, "shadow")].map(
      (file) => lstatSync(file).uid,
    ),
    [12_345, 12_345, 12_345, 0, 0],
  );
  rmSync(path, { recursive: true });
  symlinkSync(victims, path);
  await rejects(ownLogs(path, 12_345), /links are not followed here/);
  deepEqual(
    [victims, join(victims, "shadow")].map((file) => lstatSync(file).uid),
    [0, 0],
  );
});

test("a folder that belongs to somebody else is refused: a lab's", { skip: notRoot }, () => {
  const { path } = machine("tmp/folder");
  mkdirSync(path);
  lchownSync(path, 12_345, 12_345);
  throws(() => prepareFolder(path), /belongs to user 12345/);
});

for (const where of ["var/run/calico/cattail", "var/run/calico"])
  test(`the plugins' socket is not made below a folder of somebody else, and that is said: ${where}`, {
    skip: notRoot,
  }, async () => {
    const { root, path } = machine("var/run/calico/cattail/cni.sock");
    const folder = join(root, where);
    lchownSync(folder, 12_345, 12_345);
    const clock = new FakeClock();
    const { log, lines } = recordLog();
    const reports: { ready?: boolean | undefined; detail?: string | undefined }[] = [];
    const stop = new AbortController();
    const datastore = Promise.withResolvers<never>();
    let isAsked = false;
    const world = {
      ...{ clock, log, health: { report: (report: object) => void reports.push(report) } },
      datastore: () => {
        isAsked = true;
        return datastore.promise;
      },
    } as unknown as PartWorld; // all that it asks for
    const running = cniPart({ socket: path, version: "v0" }).run(world, stop.signal);
    await clock.advance(12_000);
    equal(existsSync(path), false);
    deepEqual(reports.at(-1), {
      live: true,
      ready: true,
      detail: `the plugins are not answered: ${folder} belongs to user 12345`,
    });
    equal(lines.filter(({ level }) => level === "warn").length, 1);
    // Given back, it goes on.
    equal(isAsked, false);
    lchownSync(folder, 0, 0);
    await clock.advance(5_000);
    equal(isAsked, true);
    datastore.reject(new Error("that is enough"));
    await rejects(running, /that is enough/);
  });

test("certificates are not put into, nor others removed from, a folder that a link leads to", {
  skip: notRoot,
}, async () => {
  const { root, path } = machine("etc/cni/net.d/calico-tls");
  const victims = join(root, "victims");
  mkdirSync(victims);
  writeFileSync(join(victims, "shadow"), "somebody's");
  symlinkSync(victims, path);
  await installAll(path, root);
  deepEqual(readdirSync(victims), ["shadow"]);
  deepEqual(readdirSync(path).sort(), ["etcd-ca", "etcd-cert", "etcd-key"]);
});

async function putBird(path: string): Promise<void> {
  if (path.endsWith(".candidate")) rmSync(join(dirname(path), "bird.cfg"), { force: true }); // what is in place is not checked again
  const files = { "bird.cfg": "router id 10.0.0.1;\n", "bird6.cfg": undefined };
  await new ConfigurationFolder(dirname(path)).put(files, async () => ({ is: "good" }));
}

async function installAll(_path: string, root: string): Promise<void> {
  const source = join(root, "cattail");
  writeFileSync(source, "#!program", { mode: 0o755 });
  const kubeconfig = join(root, "given");
  writeFileSync(kubeconfig, kubeconfigFor("https://10.0.0.1"));
  mkdirSync(join(root, "calico-secrets"), { recursive: true });
  for (const name of ["etcd-ca", "etcd-cert", "etcd-key"]) writeFileSync(join(root, "calico-secrets", name), name);
  await install({
    variables: { DATASTORE_TYPE: "directory", SLEEP: "false", CNI_NETWORK_CONFIG: '{"type":"calico"}' },
    say: () => undefined,
    signal: AbortSignal.timeout(60_000),
    root,
    pluginKubeconfig: kubeconfig,
    program: { is: "executable", file: source },
  });
}

function kubeconfigFor(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: { token: "t" } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}

/** Against an API server that gives out one token. */
async function renewToken(kubeconfigFile: string, root: string): Promise<void> {
  const status = { token: "fresh", expirationTimestamp: "2099-01-01T00:00:00Z" };
  const server = createServer((_request, response) => {
    response
      .writeHead(201, { "content-type": "application/json" })
      .end(JSON.stringify({ kind: "TokenRequest", status }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const account = join(root, "var/run/secrets/kubernetes.io/serviceaccount");
  mkdirSync(account, { recursive: true });
  writeFileSync(join(account, "namespace"), "kube-system");
  const own = join(root, "own-kubeconfig");
  writeFileSync(own, kubeconfigFor(`http://127.0.0.1:${port}`));
  const stop = new AbortController();
  const world = { log: silentLog, clock: systemClock, health: { report: () => undefined } } as unknown as PartWorld; // all that it asks for
  const running = cniTokenPart({ variables: { KUBECONFIG: own }, root, kubeconfigFile }).run(world, stop.signal);
  try {
    await eventually(
      () => existsSync(kubeconfigFile) && readFileSync(kubeconfigFile, "utf8").includes("fresh"),
      "a token",
    );
  } finally {
    stop.abort();
    await running;
    server.closeAllConnections();
    server.close();
  }
}
