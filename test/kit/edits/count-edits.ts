// One writer of the campaign of edits: adds one to its own counter in a random object, again and again, through edit(). It
// knows how often it has, so it sees at once when one of its edits is lost or done twice.
import { type Datastore, edit, type StoredObject } from "../../../src/calico/datastore/index.ts";
import { seededRandom } from "../random.ts";

export type EditsPlan = {
  readonly writer: string;
  readonly edits: number;
  readonly objects: number;
  readonly seed: number;
  /** Stops by then, with fewer edits. */
  readonly atMostMs: number;
};

export type EditsResult = {
  readonly writer: string;
  /** How often it has counted in each object. */
  readonly tally: { readonly [object: string]: number };
  readonly edits: number;
  readonly attempts: number;
  /** Edits whose write was answered by nobody; their fate was read from the object. */
  readonly uncertain: number;
};

export const editsKind = "GlobalNetworkSet";
const mostAttempts = 1000; // under a proxy that cuts every second, and beside writers that never rest

export function objectName(index: number): string {
  return `counters-${index}`;
}

export async function countEdits(datastore: Datastore, plan: EditsPlan): Promise<EditsResult> {
  const random = seededRandom(plan.seed);
  const tally: { [object: string]: number } = {};
  const endMs = performance.now() + plan.atMostMs;
  let edits = 0;
  let attempts = 0;
  let uncertain = 0;
  while (edits < plan.edits && performance.now() < endMs) {
    const name = objectName(random.below(plan.objects));
    const counted = tally[name] ?? 0;
    let isUncertain = false;
    const addOne = (current: StoredObject | undefined, { mayBeDone }: { mayBeDone: boolean }) => {
      isUncertain ||= mayBeDone;
      const counts = countsOf(current);
      const mine = counts[plan.writer] ?? 0;
      if (mayBeDone && mine === counted + 1) return "nothing";
      if (mine !== counted) throw new Error(`${name}: ${plan.writer} has counted ${counted} times, and finds ${mine}`);
      return { value: counters(name, { ...counts, [plan.writer]: mine + 1 }) };
    };
    const options = { mostAttempts, random: random.next };
    attempts += (await patiently(() => edit(datastore, editsKind, { namespace: "", name }, addOne, options))).attempts;
    tally[name] = counted + 1;
    edits += 1;
    if (isUncertain) uncertain += 1;
  }
  return { writer: plan.writer, tally, edits, attempts, uncertain };
}

/** Before anything was written a datastore that does not answer is the caller's business: ours, and we ask again. */
async function patiently<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: string }).code !== "unavailable") throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}

export function countsOf(object: StoredObject | undefined): { readonly [writer: string]: number } {
  return Object(Object(Object(object?.value).spec).counts);
}

function counters(name: string, counts: { readonly [writer: string]: number }): object {
  return { apiVersion: "projectcalico.org/v3", kind: editsKind, metadata: { name }, spec: { counts } };
}
