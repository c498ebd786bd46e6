// The rights that `cattail manifests cni` prints, on an API server that checks them: enough for everything the plugin does, and each of them used.
// And whom the plugin is: the installer asks for its token with them in place, and the agent's part keeps it fresh.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { parseAllDocuments } from "yaml";
import { systemClock } from "../../src/base/lib/index.ts";
import { createMetrics } from "../../src/base/observe/index.ts";
import { createIpamPlugin, freshBacking, runPlugin } from "../../src/node/cni/index.ts";
import { cniTokenPart } from "../../src/node/cni-token/index.ts";
import type { PartWorld } from "../../src/node/part/index.ts";
import { cattail } from "../kit/cattail-process.ts";
import { clusterPeer, type Rule } from "../kit/cluster.ts";
import { type CniCase, cniCases } from "../kit/cni-cases/case.ts";
import { playCni } from "../kit/cni-cases/play.ts";
import { Stage } from "../kit/cni-cases/stage.ts";
import { type CniServers, startCniServers } from "../kit/cni-cases/world.ts";
import { linkedPlugins } from "../kit/cni-plugins.ts";
import { eventually } from "../kit/eventually.ts";
import { ipamCases } from "../kit/ipam-cases/case.ts";
import { type Meddler, startMeddler } from "../kit/ipam-cases/meddler.ts";
import { type CallPlugin, play } from "../kit/ipam-cases/play.ts";
import { MountedFolder } from "../kit/mounted-folder.ts";
import { noNamespaces } from "../kit/namespace.ts";
import { recordLog } from "../kit/recorded-log.ts";
import { betterCni } from "./cni-better.ts";

const { missing } = await clusterPeer();
/** Between them they do everything that the plugins can be asked to do. */
const played = ["add-del", "ip-addrs-again", "container-mismatch", "dual-stack"];
const playedOfIpam = [
  "stale-affinity",
  "selector-change-del",
  "reclaim-empty",
  "race-affinity-confirmed",
  "dual-stack",
  "borrow",
];

type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
};

describe("the CNI plugin's rights", { skip: noNamespaces || (missing ?? false) }, () => {
  let servers: CniServers;
  let manifests: readonly Manifest[];
  const folder = mkdtempSync(join(tmpdir(), "cattail-cni-rights-"));
  before(async () => {
    servers = await startCniServers();
    const { code, stdout, stderr } = await cattail(["manifests", "cni"]);
    equal(code, 0, stderr);
    manifests = parseAllDocuments(stdout).map((each) => each.toJS() as Manifest); // our own
    const plurals: { readonly [kind: string]: string } = {
      ServiceAccount: "/api/v1/namespaces/kube-system/serviceaccounts",
      ClusterRole: "/apis/rbac.authorization.k8s.io/v1/clusterroles",
      ClusterRoleBinding: "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
    };
    for (const each of manifests) await servers.cluster.must("POST", plurals[each.kind] ?? "", each);
  });
  after(async () => {
    await servers?.[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  test("are enough, and each is used", { timeout: 400_000 }, async () => {
    const { cluster, kube, stores } = servers;
    const token = await cluster.makeToken("calico-cni-plugin", { namespace: "kube-system" });
    await using meddler = await startMeddler(cluster, kube, token);
    const seen = new Set<string>();
    const gather = () => {
      for (const each of meddler.seen) seen.add(rightOf(each));
    };
    // What was asked so far is forgotten when races are armed anew.
    const armed: Meddler = {
      ...{ server: meddler.server, seen: [] },
      arm: (races) => {
        gather();
        meddler.arm(races);
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
    const kubeconfig = join(folder, "plain.kubeconfig");
    writeFileSync(kubeconfig, plainKubeconfig(meddler.server));
    const state = join(folder, "state");
    mkdirSync(state);
    using stage = new Stage(state, () => [Number(new URL(meddler.server).port)]);
    const configuration = { datastore_type: "kubernetes", kubernetes: { kubeconfig } };
    const plugins = linkedPlugins(folder);
    const world = { stage, store: stores.kubernetes, plugins, configuration, meddler: armed, words: new Map() };
    for (const each of [...cniCases().filter(({ name }) => played.includes(name)), podCidrCase()]) {
      const recorded = each.expect.kubernetes;
      const expected = recorded === undefined ? undefined : betterCni(each.name, "kubernetes", recorded);
      const nothing = { steps: [], store: {}, network: { nodes: {}, pods: {} }, logs: {} };
      const { steps } = await playCni(each, expected ?? nothing, world);
      gather();
      if (expected !== undefined)
        deepEqual(
          steps.map(({ rc }) => rc),
          expected.steps.map(({ rc }) => rc),
          each.name,
        );
    }
    for (const each of ipamCases().filter(({ name }) => playedOfIpam.includes(name))) {
      const ofIpam = { datastore_type: "kubernetes", policy: { type: "k8s" }, kubernetes: { kubeconfig } };
      const stageOfIpam = { store: stores.kubernetes, callPlugin: ipamInProcess, configuration: ofIpam, folder: state };
      const { steps } = await play(each, { ...stageOfIpam, meddler: armed });
      gather();
      deepEqual(
        steps.map(({ rc }) => rc),
        each.expect.kubernetes?.steps.map(({ rc }) => rc),
        each.name,
      );
    }
    const granted = manifests.flatMap(({ rules = [] }) =>
      rules.flatMap(({ resources, verbs }) =>
        resources.flatMap((resource) => verbs.map((verb) => `${verb} ${resource}`)),
      ),
    );
    deepEqual([...seen].sort(), granted.sort());
  });

  test("the installer asks for a token of that account, and the plugin is let in with it", {
    timeout: 200_000,
  }, async () => {
    const [bin, net] = [join(folder, "host", "bin"), join(folder, "host", "net.d")];
    const env = {
      CNI_BIN_DIR: bin,
      CNI_NET_DIR: net,
      KUBECONFIG: servers.cluster.kubeconfig,
      KUBERNETES_NODE_NAME: "n1",
    };
    const { code, stderr } = await cattail(["cni", "install"], { env });
    equal(code, 0, stderr);
    equal(statSync(join(net, "calico-kubeconfig")).mode & 0o777, 0o600);
    const { plugins: [calico] = [] } = JSON.parse(readFileSync(join(net, "10-calico.conflist"), "utf8")) as {
      plugins?: object[];
    };
    await servers.stores.kubernetes.apply({
      kind: "ClusterInformation",
      metadata: { name: "default" },
      spec: { datastoreReady: true },
    });
    const stdin = JSON.stringify({ ...calico, name: "k8s-pod-network", cniVersion: "1.0.0" });
    const asked = await cattail(["-t"], { program: [join(bin, "calico")], stdin });
    equal(asked.code, 0, asked.stdout + asked.stderr);
  });

  test("a missing account is said with what to do", { timeout: 100_000 }, async () => {
    const env = {
      ...{ CNI_BIN_DIR: join(folder, "none", "bin"), CNI_NET_DIR: join(folder, "none", "net.d") },
      ...{ KUBECONFIG: servers.cluster.kubeconfig, CALICO_CNI_SERVICE_ACCOUNT: "nobody" },
    };
    const { code, stderr } = await cattail(["cni", "install"], { env });
    equal(code, 1);
    match(stderr, /no token for service account kube-system\/nobody[\s\S]*cattail manifests cni[\s\S]*CNI_TOKEN/);
  });

  test("the agent writes a new token, and another as soon as its own mounted one changes", {
    timeout: 200_000,
  }, async () => {
    const { cluster } = servers;
    const root = join(folder, "pod");
    const account = { kind: "ServiceAccount", name: "agent", namespace: "kube-system" } as const;
    const own = await cluster.makeToken("agent", { namespace: "kube-system" });
    const rule = {
      apiGroups: [""],
      resources: ["serviceaccounts/token"],
      resourceNames: ["calico-cni-plugin"],
      verbs: ["create"],
    };
    await cluster.grant("agent", account, [rule]);
    const mounted = new MountedFolder(`${root}/var/run/secrets/kubernetes.io/serviceaccount`, 0o600);
    const ca = readFileSync(join(cluster.dir, "ca.crt"), "utf8");
    mounted.put({ token: own, "ca.crt": ca, namespace: "kube-system" });
    const before = { host: process.env.KUBERNETES_SERVICE_HOST, port: process.env.KUBERNETES_SERVICE_PORT };
    Object.assign(process.env, { KUBERNETES_SERVICE_HOST: "127.0.0.1", KUBERNETES_SERVICE_PORT: String(cluster.port) });
    const stop = new AbortController();
    const kubeconfigFile = join(folder, "calico-kubeconfig");
    const { log, lines } = recordLog();
    const world: PartWorld = {
      ...{ node: "n1", clock: systemClock, log },
      metrics: createMetrics({ table: {}, labels: {}, clock: systemClock }),
      health: { report: () => undefined },
      feed: { follow: () => ({ [Symbol.dispose]: () => undefined }) },
      settings: { raw: () => undefined, onChange: () => ({ [Symbol.dispose]: () => undefined }) },
      datastore: () => Promise.reject(new Error("the token needs no datastore")),
    };
    const running = cniTokenPart({ variables: {}, root, kubeconfigFile }).run(world, stop.signal);
    const written = () => {
      try {
        return readFileSync(kubeconfigFile, "utf8");
      } catch {
        return ""; // not yet
      }
    };
    try {
      await eventually(
        () => written().includes("token:"),
        () => `a kubeconfig: ${JSON.stringify(lines)}`,
      );
      const first = written();
      equal(statSync(kubeconfigFile).mode & 0o777, 0o600);
      match(first, new RegExp(`server: "https://127\\.0\\.0\\.1:${cluster.port}"`));
      ok(!first.includes(own), "the agent's own token, with the agent's rights");
      mounted.put({
        token: await cluster.makeToken("agent", { namespace: "kube-system" }),
        "ca.crt": ca,
        namespace: "kube-system",
      });
      await eventually(() => written() !== first, "another token");
    } finally {
      stop.abort();
      await running;
      for (const [name, value] of Object.entries({
        KUBERNETES_SERVICE_HOST: before.host,
        KUBERNETES_SERVICE_PORT: before.port,
      })) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });
});

const ipamInProcess: CallPlugin = (variables, stdin) => {
  const edge = { clock: systemClock, random: Math.random, warn: (text: string) => ok(false, text) };
  const isOwnFile = () => false;
  const plugin = createIpamPlugin({ ...edge, variables, version: "v0", backing: freshBacking(edge), isOwnFile });
  return runPlugin(plugin, variables, async () => stdin);
};

/** host-local with the node's pod CIDR: the one thing for which a node is read. It fails after that, because no such plugin is there. */
function podCidrCase(): CniCase {
  const [node, container, pod] = ["n1", "c1", "default/p1"];
  return {
    name: "pod-cidr",
    about: "the node is read",
    datastores: ["kubernetes"],
    objects: [
      { kind: "Node", metadata: { name: node } },
      { kind: "Pod", metadata: { name: "p1", namespace: "default" }, spec: { nodeName: node } },
    ],
    steps: [{ add: { node, container, pod, conf: { ipam: { type: "host-local", subnet: "usePodCidr" } } } }],
    expect: {},
  };
}

/** "PUT ipamblocks/10-0-0-0-26" as "update ipamblocks". */
function rightOf(request: string): string {
  const [method = "", path = ""] = request.split(" ");
  const [, namespaced] = /^namespaces\/[^/]+\/(.+)$/.exec(path) ?? [];
  const [resource = "", name, sub] = (namespaced ?? path).split("/");
  const verbs: { readonly [method: string]: string } = {
    POST: "create",
    PUT: "update",
    PATCH: "patch",
    DELETE: "delete",
  };
  const verb = method === "GET" ? (name === undefined ? "list" : "get") : verbs[method];
  return `${verb} ${sub === undefined ? resource : `${resource}/${sub}`}`;
}

function plainKubeconfig(server: string): string {
  return JSON.stringify({
    clusters: [{ name: "c", cluster: { server } }],
    users: [{ name: "u", user: {} }],
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    "current-context": "c",
  });
}
