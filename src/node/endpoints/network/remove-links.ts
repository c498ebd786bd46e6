// Removing a pair of interfaces takes the kernel 8 to 50 ms of waiting, in which the program that asks does nothing else, and it takes about as long for
// sixteen as for one. So those that are to go at the same time go together: one group, one deletion. Whoever asks while a deletion is under way waits
// for the next.
//
//   remove ─┐
//   remove ─┼─▶ end of this turn ─▶ put them into a group of their own ─▶ delete the group        one alone: deleted by its index
//   remove ─┘
import { kernelErrno, type Netlink, openNetlink } from "../../../base/linux/kernel.ts";

/** The node's namespace; undefined: the one that this process is in. */
type Namespace = string | undefined;
type Waiting = PromiseWithResolvers<boolean> & { readonly index: number };

/** Low numbers are people's own. The rest is the first one's index, which nobody else has. */
const firstGroup = 1 << 30;

export class LinkRemover {
  readonly #waiting = new Map<Namespace, Waiting[]>();

  /** Whether it was there: one that has gone with its other end meanwhile was not. */
  async remove(index: number, namespace: Namespace): Promise<boolean> {
    const mine: Waiting = { index, ...Promise.withResolvers<boolean>() };
    const line = this.#waiting.get(namespace);
    if (line === undefined) {
      this.#waiting.set(namespace, [mine]);
      void this.#run(namespace);
    } else {
      line.push(mine);
    }
    return await mine.promise;
  }

  async #run(namespace: Namespace): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    const together = this.#waiting.get(namespace) ?? [];
    this.#waiting.delete(namespace);
    try {
      await using netlink = openNetlink({ namespace });
      if (!(await removedAsGroup(netlink, together))) await removeEach(netlink, together);
    } catch (error) {
      for (const { reject } of together) reject(error); // those that were told already have their answer
    }
  }
}

async function removedAsGroup(netlink: Netlink, together: readonly Waiting[]): Promise<boolean> {
  const [first] = together;
  if (first === undefined || together.length === 1) return false;
  const group = firstGroup + first.index;
  const grouping = together.map(({ index }) => ({ do: "edit", link: { link: index, group } }) as const);
  const outcomes = await netlink.changeAll([...grouping, { do: "delete", linkGroup: group }]);
  if (outcomes.at(-1)?.is === "refused") return false; // the one to blame is found one by one
  for (const [at, { resolve, reject }] of together.entries()) {
    const outcome = outcomes[at];
    if (outcome?.is !== "refused") resolve(true);
    else if (kernelErrno(outcome.error) === "ENODEV") resolve(false);
    else reject(outcome.error);
  }
  return true;
}

async function removeEach(netlink: Netlink, together: readonly Waiting[]): Promise<void> {
  for (const { index, resolve, reject } of together) {
    try {
      await netlink.change({ do: "delete", link: index });
      resolve(true);
    } catch (error) {
      if (kernelErrno(error) === "ENODEV") resolve(false);
      else reject(error);
    }
  }
}
