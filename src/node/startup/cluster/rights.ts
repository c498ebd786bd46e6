// What start-up must be allowed to do, asked before it writes anything: all that is missing is said at once, as rules to paste. One review of all our
// rules answers as a rule; what is not in it is asked for by itself, because an authoriser may keep rules that cannot be listed.
import { isRecord, type JsonRecord } from "../../../base/lib/index.ts";
import type { KubernetesDatastore } from "../../../calico/datastore/index.ts";
import { type Kind, kindInfo } from "../../../calico/kinds/index.ts";

export type Verb = "get" | "list" | "watch" | "create" | "update" | "patch" | "delete";

export type Need = {
  readonly verb: Verb;
  readonly kind: Kind;
  readonly subresource?: "status";
  readonly namespace?: string;
  /** Without it start-up goes on: what it would write is what holds where nothing is written. */
  readonly isDispensable?: true;
};

export type MissingRights = {
  readonly needs: readonly Need[];
  /** Below `rules:` of a ClusterRole. */
  readonly rules: string;
};

type Place = { readonly group: string; readonly resource: string };

/** Undefined: nothing is missing. */
export async function missingRights(
  needs: readonly Need[],
  datastore: Pick<KubernetesDatastore, "api" | "calicoGroup">,
  signal: AbortSignal,
): Promise<MissingRights | undefined> {
  if (needs.length === 0) return undefined;
  const calicoGroup = await datastore.calicoGroup(signal);
  const review = { namespace: "kube-system" };
  const rules = await post(datastore, "selfsubjectrulesreviews", "SelfSubjectRulesReview", review, signal)
    .then(({ resourceRules }) => (Array.isArray(resourceRules) ? resourceRules.filter(isRecord) : []))
    .catch((): JsonRecord[] => []); // then each is asked for by itself
  const missing: Need[] = [];
  for (const need of needs) {
    const place = placeOf(need, calicoGroup);
    if (!rules.some((rule) => isGranted(rule, need.verb, place)) && !(await isAllowed(need, place, datastore, signal)))
      missing.push(need);
  }
  return missing.length === 0 ? undefined : { needs: missing, rules: ruleTexts(missing, calicoGroup) };
}

function isGranted({ verbs, apiGroups, resources, resourceNames }: JsonRecord, verb: Verb, place: Place): boolean {
  const has = (list: unknown, ...words: readonly string[]) =>
    Array.isArray(list) && ["*", ...words].some((word) => list.includes(word));
  const isOfSome = Array.isArray(resourceNames) && resourceNames.length > 0;
  const [, subresource] = place.resource.split("/");
  const places = subresource === undefined ? [place.resource] : [place.resource, `*/${subresource}`];
  return !isOfSome && has(verbs, verb) && has(apiGroups, place.group) && has(resources, ...places);
}

async function isAllowed(
  { verb, namespace = "" }: Need,
  { group, resource: whole }: Place,
  datastore: Pick<KubernetesDatastore, "api">,
  signal: AbortSignal,
): Promise<boolean> {
  const [resource, subresource = ""] = whole.split("/");
  const spec = { resourceAttributes: { verb, group, resource, subresource, namespace } };
  const status = await post(datastore, "selfsubjectaccessreviews", "SelfSubjectAccessReview", spec, signal);
  return status.allowed === true;
}

async function post(
  { api }: Pick<KubernetesDatastore, "api">,
  plural: string,
  kind: string,
  spec: JsonRecord,
  signal: AbortSignal,
): Promise<JsonRecord> {
  const apiVersion = "authorization.k8s.io/v1";
  const path = `/apis/${apiVersion}/${plural}`;
  const answer = await api.json({ method: "POST", path, body: { apiVersion, kind, spec }, signal });
  const status = isRecord(answer) ? answer.status : undefined;
  return isRecord(status) ? status : {};
}

function placeOf({ kind, subresource }: Need, calicoGroup: "crd.projectcalico.org" | "projectcalico.org"): Place {
  const { kubernetes } = kindInfo(kind);
  if (kubernetes === undefined) return { group: calicoGroup, resource: kind.toLowerCase() };
  const isOurs = !("version" in kubernetes);
  const renamed = isOurs && calicoGroup === "projectcalico.org" ? kubernetes.inNewGroup : undefined;
  const plural = renamed?.plural ?? kubernetes.plural;
  return {
    group: isOurs ? calicoGroup : kubernetes.group,
    resource: subresource === undefined ? plural : `${plural}/${subresource}`,
  };
}

/** Resources of one group with the same verbs are one rule. */
function ruleTexts(needs: readonly Need[], calicoGroup: "crd.projectcalico.org" | "projectcalico.org"): string {
  const byPlace = new Map<string, Place & { readonly verbs: Verb[] }>();
  for (const need of needs) {
    const place = placeOf(need, calicoGroup);
    const known = byPlace.get(`${place.group} ${place.resource}`) ?? { ...place, verbs: [] };
    if (!known.verbs.includes(need.verb)) known.verbs.push(need.verb);
    byPlace.set(`${place.group} ${place.resource}`, known);
  }
  const alike = Map.groupBy(byPlace.values(), ({ group, verbs }) => `${group} ${verbs.join(" ")}`);
  const quoted = (words: readonly string[]) => `[${words.map((word) => JSON.stringify(word)).join(", ")}]`;
  return [...alike.values()]
    .map((places) => {
      const [first] = places;
      if (first === undefined) return "";
      const resources = places.map(({ resource }) => resource).sort();
      return `- apiGroups: ${quoted([first.group])}\n  resources: ${quoted(resources)}\n  verbs: ${quoted(first.verbs)}`;
    })
    .join("\n");
}
