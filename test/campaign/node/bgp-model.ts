// Which node has a route to which other one over BGP, from nothing but the sessions that the objects ask for and the rules of route
// reflection: all nodes are of one AS, so what a node has learned it keeps to itself, unless it is a reflector.

export type BgpWorld = {
  readonly nodes: readonly string[];
  readonly mesh: boolean;
  /** Cluster ids of the nodes that are reflectors. */
  readonly reflectors: ReadonlyMap<string, string>;
  /** Pairs of nodes that peer because of a BGPPeer, in whichever direction. */
  readonly peers: (one: string, other: string) => boolean;
  /** Whether `one` has its session with `other` by an address: then it does not know of which cluster that is, and takes it for a client. */
  readonly byAddress: (one: string, other: string) => boolean;
};

function hasSession(world: BgpWorld, one: string, other: string): boolean {
  if (one === other) return false;
  const isMesh = world.mesh && !world.reflectors.has(one) && !world.reflectors.has(other);
  return isMesh || world.peers(one, other) || world.peers(other, one);
}

/** The nodes that hear of what `owner` announces. */
export function hearersOf(world: BgpWorld, owner: string): Set<string> {
  const heard = new Set<string>();
  // What is passed on carries the clusters that it came through; a reflector refuses from its clients what has passed its own. From another reflector of
  // its cluster it takes it: BIRD looks for its cluster in sessions with clients only (the recorded case peer-two-reflectors has such routes).
  const open: { at: string; from: string; clusters: readonly string[] }[] = [];
  const clusterOf = (at: string, peer: string) => (world.byAddress(at, peer) ? undefined : world.reflectors.get(peer));
  const tell = (from: string, to: string, clusters: readonly string[]): void => {
    const own = world.reflectors.get(to);
    const isFromClient = own !== undefined && clusterOf(to, from) !== own;
    if (to === owner || (isFromClient && clusters.includes(own))) return;
    heard.add(to);
    open.push({ at: to, from, clusters });
  };
  const peersOf = (node: string) => world.nodes.filter((other) => hasSession(world, node, other));
  for (const peer of peersOf(owner)) tell(owner, peer, []);
  const seen = new Set<string>();
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { at, from, clusters } = next;
    const own = world.reflectors.get(at);
    const key = `${at} ${from} ${clusters.join()}`;
    if (own === undefined || seen.has(key)) continue;
    seen.add(key);
    const isClient = (peer: string) => clusterOf(at, peer) !== own;
    for (const peer of peersOf(at)) {
      if (peer === from || !(isClient(from) || isClient(peer))) continue;
      tell(at, peer, [...clusters, own]);
    }
  }
  return heard;
}
