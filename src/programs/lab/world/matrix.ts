// Who reaches whom: a ping for each pair of a kind, all at once.
import { type Pinged, ping } from "../../../base/linux/kernel.ts";

export const pairKinds = ["same node", "across nodes", "second pool", "node to pod", "pod to node"] as const;
export type PairKind = (typeof pairKinds)[number];

export type End = {
  readonly name: string;
  readonly node: string;
  readonly address: string;
  /** Where the lab has both families. */
  readonly address6?: string;
  readonly netns: string;
};
export type PodEnd = End & { readonly pool: string };
export type Pair = {
  readonly kind: PairKind;
  readonly from: End;
  readonly to: End;
  /** Of `to`: in a lab with both families there are two pairs of the same ends. */
  readonly address: string;
};
export type PingedPair = Pair & { readonly pinged: Pinged };

/** Every pod to every other, every node to every pod and back. The second pool is any but the one that most pods have. */
export function pairsOf(nodes: readonly End[], pods: readonly PodEnd[]): Pair[] {
  const first = mostUsedPool(pods);
  const between = pods.flatMap((from) =>
    pods
      .filter((to) => to.name !== from.name)
      .map((to): [PairKind, End, End] => {
        const isSecond = from.pool !== first || to.pool !== first;
        return [isSecond ? "second pool" : from.node === to.node ? "same node" : "across nodes", from, to];
      }),
  );
  const withNodes = nodes.flatMap((node) =>
    pods.flatMap((pod): [PairKind, End, End][] => [
      ["node to pod", node, pod],
      ["pod to node", pod, node],
    ]),
  );
  const ends = [...between, ...withNodes];
  const four = ends.map(([kind, from, to]): Pair => ({ kind, from, to, address: to.address }));
  const six = ends.flatMap(([kind, from, to]): Pair[] =>
    from.address6 === undefined || to.address6 === undefined ? [] : [{ kind, from, to, address: to.address6 }],
  );
  const order = (a: Pair, b: Pair) => pairKinds.indexOf(a.kind) - pairKinds.indexOf(b.kind);
  return [...four.sort(order), ...six.sort(order)];
}

function mostUsedPool(pods: readonly PodEnd[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { pool } of pods) counts.set(pool, (counts.get(pool) ?? 0) + 1);
  return [...counts].sort(([, a], [, b]) => b - a)[0]?.[0];
}

export type MatrixOptions = { readonly count?: number; readonly intervalMs?: number; readonly timeoutMs?: number };

export async function pingPairs(pairs: readonly Pair[], options: MatrixOptions = {}): Promise<PingedPair[]> {
  const { count = 2, intervalMs = 100, timeoutMs = 1_000 } = options;
  return await Promise.all(
    pairs.map(async (pair) => {
      const namespace = pair.from.netns;
      return { ...pair, pinged: await ping(pair.address, { namespace, count, intervalMs, timeoutMs }) };
    }),
  );
}

/** No answer was lost. */
export function isWhole({ pinged }: PingedPair): boolean {
  return pinged.received === pinged.sent;
}
