// The rights that each program needs, as the rules of a ClusterRole: a loop over what the files of the kinds say.
import type { CalicoGroup, Right, Role } from "./kind.ts";
import { followedKinds, isCustomKind, type Kind, kindInfo, kindNames } from "./registry.ts";

export type PolicyRule = { readonly apiGroups: string[]; readonly resources: string[]; readonly verbs: string[] };
type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

/** What a program does with a kind, or with the status of its objects, beyond following it. */
export type Use = { readonly kind: Kind; readonly verb: Verb; readonly of: "object" | "status" };

/** The command line may be asked to do anything with what can be named there. */
export function rightsTo(kind: Kind, role: Role): readonly Right[] {
  const { rights, names } = kindInfo(kind);
  const isAnything = role === "ctl" && names !== undefined && isCustomKind(kind);
  return rights?.[role] ?? (isAnything ? ["get", "list", "create", "update", "delete"] : []);
}

export function usesOf(role: Role): readonly Use[] {
  return kindNames.flatMap((kind) =>
    rightsTo(kind, role).map((right): Use => {
      const verb = right.replace("status:", "") as Verb; // the type of a right says so
      return { kind, verb, of: verb === right ? "object" : "status" };
    }),
  );
}

/** Where the API server has it; undefined: it does not. */
function placeOf(kind: Kind, calicoGroup: CalicoGroup): { group: string; plural: string } | undefined {
  const { kubernetes } = kindInfo(kind);
  if (kubernetes === undefined) return undefined;
  if ("version" in kubernetes) return { group: kubernetes.group, plural: kubernetes.plural };
  const renamed = calicoGroup === "projectcalico.org" ? kubernetes.inNewGroup : undefined;
  return { group: calicoGroup, plural: renamed?.plural ?? kubernetes.plural };
}

/** To list and watch what Typha follows; grouped as a person would write it. */
export function followRules(calicoGroup: CalicoGroup): PolicyRule[] {
  const places = followedKinds.flatMap((kind) => placeOf(kind, calicoGroup) ?? []);
  return [...Map.groupBy(places, ({ group }) => group)].map(([group, held]) => ({
    apiGroups: [group],
    resources: held.map(({ plural }) => plural).sort(),
    verbs: ["list", "watch"],
  }));
}

/** What the program does besides: resources of one group with the same verbs are one rule. */
export function rulesFor(role: Role, calicoGroup: CalicoGroup): PolicyRule[] {
  const verbs = new Map<string, { group: string; resource: string; verbs: Verb[] }>();
  for (const { kind, verb, of } of usesOf(role)) {
    const place = placeOf(kind, calicoGroup);
    if (place === undefined) continue;
    const resource = of === "status" ? `${place.plural}/status` : place.plural;
    const key = `${place.group} ${resource}`;
    const known = verbs.get(key) ?? { group: place.group, resource, verbs: [] };
    verbs.set(key, { ...known, verbs: [...known.verbs, verb] });
  }
  const alike = Map.groupBy(verbs.values(), ({ group, verbs: may }) => `${group} ${may.join(" ")}`);
  return [...alike.values()].flatMap((held) => {
    const [first] = held;
    if (first === undefined) return [];
    return [{ apiGroups: [first.group], resources: held.map(({ resource }) => resource).sort(), verbs: first.verbs }];
  });
}
