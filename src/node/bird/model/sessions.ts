// The sessions of one family: the mesh, and one for each peering, with their passwords and filters looked up.
import type { BgpCluster } from "./cluster.ts";
import { type Direction, filterSymbol, readRules, rulesOf } from "./filters.ts";
import type { BgpProblem, FilterCall, FilterIntent, Session, SessionKind } from "./intent.ts";
import type { BgpNode } from "./objects.ts";
import { type Peering, type SecretRef, secondsOf } from "./peerings.ts";

export type SecretAnswer =
  | { readonly is: "value"; readonly value: string }
  | { readonly is: "missing"; readonly why: string };

type Options = {
  readonly cluster: BgpCluster;
  readonly self: BgpNode;
  readonly family: 4 | 6;
  readonly peerings: readonly Peering[];
  secret(reference: SecretRef): SecretAnswer;
  problem(problem: BgpProblem): void;
};

export function sessionsOf(options: Options): { sessions: readonly Session[]; filters: readonly FilterIntent[] } {
  const { self, family, peerings } = options;
  const own = self.address[family];
  if (own === undefined) return { sessions: [], filters: [] };
  const filters = new Map<string, FilterIntent>();
  const theirs = peerings.filter((peering) => peering.family === family && peering.address !== own);
  const sessions = [
    ...meshSessions(options, own),
    ...theirs.flatMap((peering) => sessionOf(peering, own, options, filters) ?? []),
  ];
  const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return {
    sessions: sessions.sort((a, b) => byText(a.name, b.name)),
    filters: [...filters.values()].sort((a, b) => byText(a.symbol, b.symbol)),
  };
}

function sessionName(kind: SessionKind, address: string, port?: number): string {
  return `${kind}_${address.replace(/[.:]/g, "_")}${port === undefined ? "" : `_port_${port}`}`;
}

function meshSessions(options: Options, own: string): readonly Session[] {
  const { cluster, self, family } = options;
  const { nodeToNodeMeshEnabled = true, nodeMeshPassword, nodeMeshMaxRestartTime } = cluster.global;
  if (!nodeToNodeMeshEnabled || self.clusterId !== undefined) return [];
  const localAs = cluster.asNumberOf(self);
  const { secretKeyRef } = nodeMeshPassword ?? {};
  const reference = secretKeyRef && { name: secretKeyRef.name ?? "", key: secretKeyRef.key ?? "" };
  const password = passwordOf(reference, "BGPConfiguration default", options);
  if (password.is === "refused") return [];
  const seen = new Set<string>([own]);
  return cluster.nodes.flatMap((node): Session[] => {
    const address = node.address[family];
    if (address === undefined || node.clusterId !== undefined || seen.has(address)) return [];
    seen.add(address);
    // Not this node's number for one that has none: the original takes that, and then the two ends never agree.
    const asNumber = cluster.asNumberOf(node);
    return [
      {
        name: sessionName("Mesh", address),
        kind: "Mesh",
        address,
        port: cluster.listenPortOf(node.name),
        asNumber,
        localAs,
        isInternal: asNumber === localAs,
        usesNodeAddress: true,
        ttlSecurity: undefined,
        // By their texts, as the original compares them: both ends must follow the same rule, or both would wait.
        isPassive: address > own,
        restartSeconds: secondsOf(nodeMeshMaxRestartTime),
        keepaliveSeconds: undefined,
        clusterId: undefined,
        password: password.value,
        nextHop: "auto",
        allowedLocalAs: undefined,
        importFilters: [],
        exportFilters: [],
      },
    ];
  });
}

function sessionOf(
  peering: Peering,
  own: string,
  options: Options,
  filters: Map<string, FilterIntent>,
): Session | undefined {
  const { cluster, self } = options;
  const about = `BGPPeer ${peering.peer}`;
  const { kind, address, port, asNumber } = peering;
  if (asNumber < 1 || asNumber > 0xffffffff) {
    options.problem({ code: "BGP_PEER", about, says: "it has no AS number; it is left out" });
    return undefined;
  }
  const password = passwordOf(peering.password, about, options);
  if (password.is === "refused") return undefined;
  const localAs = peering.localAs ?? cluster.asNumberOf(self);
  const isInternal = asNumber === localAs;
  const reflects = self.clusterId !== undefined && isInternal && peering.peerClusterId !== self.clusterId;
  const mayWait = kind === "Global" || kind === "Local_Workload";
  const calls = (direction: Direction) => filterCalls(peering, direction, options, filters);
  return {
    name: sessionName(kind, address, port),
    kind,
    address,
    port,
    asNumber,
    localAs,
    isInternal,
    usesNodeAddress: peering.usesNodeAddress,
    ttlSecurity: peering.ttlSecurity,
    isPassive: peering.isPassive || (mayWait && peering.isCalicoNode && address > own),
    restartSeconds: peering.restartSeconds,
    keepaliveSeconds: peering.keepaliveSeconds,
    clusterId: reflects ? self.clusterId : undefined,
    password: password.value,
    nextHop: peering.keepsOriginalNextHop && !isInternal ? "keep" : peering.nextHop,
    allowedLocalAs: peering.allowedLocalAs,
    importFilters: calls("import"),
    exportFilters: calls("export"),
  };
}

/** In the order named. A filter that is not there might have rejected what comes to it: from its place on, all is. */
function filterCalls(
  peering: Peering,
  direction: Direction,
  { cluster, family, problem }: Options,
  filters: Map<string, FilterIntent>,
): readonly FilterCall[] {
  return peering.filters.flatMap((name): FilterCall[] => {
    const missing = (why: string): FilterCall[] => {
      const says = `it names BGPFilter ${JSON.stringify(name)}, which ${why}; nothing passes to or from ${peering.address} from there on`;
      problem({ code: "BGP_FILTER_MISSING", about: `BGPPeer ${peering.peer}`, says });
      return [{ is: "missing", name }];
    };
    const filter = cluster.objects.filters.get(name);
    const symbol = filterSymbol(name, direction, family);
    if (filter === undefined || symbol === undefined) return missing("does not exist");
    const rules = rulesOf(filter.spec, direction, family);
    if (rules.length === 0) return [];
    const read = readRules(rules, family);
    if (typeof read === "string") return missing(`cannot be read (${read})`);
    filters.set(symbol, { symbol, rules: read });
    return [{ is: "call", symbol }];
  });
}

type Password = { readonly is: "good"; readonly value: string | undefined } | { readonly is: "refused" };

/** What the kernel takes as the key of TCP's MD5 signatures. */
const mostPasswordBytes = 80;

function passwordOf(reference: SecretRef | undefined, about: string, { secret, problem }: Options): Password {
  if (reference === undefined) return { is: "good", value: undefined };
  const where = `key ${JSON.stringify(reference.key)} of Secret ${JSON.stringify(reference.name)}`;
  const answer = secret(reference);
  if (answer.is === "missing") {
    const says = `there is no password in ${where} (${answer.why}); the session is without one, and a peer that demands one refuses it`;
    problem({ code: "BGP_PASSWORD_MISSING", about, says });
    return { is: "good", value: undefined };
  }
  const wrong = wrongWithPassword(answer.value);
  if (wrong === undefined) return { is: "good", value: answer.value };
  problem({ code: "BGP_PASSWORD", about, says: `the password in ${where} ${wrong}; its sessions are left out` });
  return { is: "refused" };
}

/** BIRD's texts know no escape. Undefined: nothing is. */
function wrongWithPassword(password: string): string | undefined {
  if (password === "") return "is empty";
  if (/[\r\n]$/.test(password)) return "ends in a new line, which BIRD cannot be given";
  if (/["\p{Cc}]/u.test(password)) return 'has a quote (") or a control character, which BIRD cannot be given';
  if (new TextEncoder().encode(password).length > mostPasswordBytes) return `has more than ${mostPasswordBytes} bytes`;
  return undefined;
}
