// What may happen to the pods of a node, chosen by chance: a runtime's calls in any order, what it does to sandboxes, what others do to pods, and
// what goes wrong in the middle of a call.
import type { Random } from "../random.ts";

/** What goes wrong during a call. `nth` counts the requests to the API server, `share` is of a call's usual time. */
export type Mishap =
  | { readonly is: "none" }
  | { readonly is: "api"; readonly nth: number; readonly how: "403" | "500" | "503" | "cut" | "lose" }
  | { readonly is: "kill"; readonly whom: "plugin" | "agent" | "both"; readonly when: KillMoment };
export type KillMoment =
  | { readonly at: "request"; readonly nth: number; readonly side: "before" | "after" }
  | { readonly at: "time"; readonly share: number };

export type Step =
  | { readonly do: "add" | "del" | "check" | "add and del"; readonly mishap: Mishap }
  | { readonly do: "del of an old sandbox" | "del without a namespace"; readonly mishap: Mishap }
  | { readonly do: "new sandbox" | "namespace goes" | "pod goes" | "pod is replaced" | "agent restarts" };

const weights: readonly { readonly weight: number; readonly what: Step["do"] }[] = [
  { weight: 8, what: "add" },
  { weight: 5, what: "del" },
  { weight: 2, what: "add and del" },
  { weight: 2, what: "new sandbox" },
  { weight: 2, what: "del of an old sandbox" },
  { weight: 1, what: "del without a namespace" },
  { weight: 1, what: "check" },
  { weight: 1, what: "namespace goes" },
  { weight: 1, what: "pod goes" },
  { weight: 1, what: "pod is replaced" },
  { weight: 1, what: "agent restarts" },
];

const likely = weights.flatMap(({ weight, what }) => Array.from({ length: weight }, () => what));

export function chooseStep(random: Random): Step {
  const what = random.pick(likely);
  switch (what) {
    case "new sandbox":
    case "namespace goes":
    case "pod goes":
    case "pod is replaced":
    case "agent restarts":
      return { do: what };
    default:
      return { do: what, mishap: what === "check" ? { is: "none" } : chooseMishap(random) };
  }
}

function chooseMishap(random: Random): Mishap {
  const chance = random.next();
  if (chance < 0.45) return { is: "none" };
  const nth = 1 + random.below(12);
  if (chance < 0.65) return { is: "api", nth, how: random.pick(["403", "500", "503", "cut", "lose"]) };
  const when: KillMoment = random.isOneIn(2)
    ? { at: "request", nth, side: random.pick(["before", "after"]) }
    : { at: "time", share: random.next() * 1.1 };
  return { is: "kill", whom: random.pick(["plugin", "plugin", "agent", "both"]), when };
}
