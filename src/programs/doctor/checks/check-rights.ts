// Every right the server uses, asked for one by one, as the API server itself would decide it.
import { type Account, type KubernetesDatastore, type Verb, whenForbidden } from "../../../calico/datastore/index.ts";
import { type Kind, kindInfo, usesOf as rightsOf } from "../../../calico/kinds/index.ts";
import { type Finding, passed, problem } from "../finding.ts";

const patienceMs = 30_000;

type Use = { readonly kind: Kind; readonly verb: Verb; readonly for: "following" | "setup" };

/** What src/programs/manifests/rbac.ts grants, for the kinds that are there. */
export function usesOf(kinds: readonly Kind[]): Use[] {
  const follow = kinds.flatMap((kind) =>
    (["list", "watch"] as const).map((verb): Use => ({ kind, verb, for: "following" })),
  );
  const setup = rightsOf("typha").map(({ kind, verb }): Use => ({ kind, verb, for: "setup" }));
  return [...follow, ...setup.filter(({ kind }) => kinds.includes(kind))];
}

export async function checkRights(
  datastore: Pick<KubernetesDatastore, "mayI">,
  kinds: readonly Kind[],
  account?: Account,
): Promise<Finding[]> {
  const options = { signal: AbortSignal.timeout(patienceMs), ...(account === undefined ? {} : { account }) };
  const uses = usesOf(kinds);
  const answers = await Promise.all(
    uses.map(async (use) => ({ ...use, answer: await datastore.mayI(use.verb, use.kind, options) })),
  );
  const missing = answers.flatMap(({ answer, ...use }) => (answer.may ? [] : [{ ...use, rule: answer.missingRule }]));
  if (missing.length === 0) return [passed(`all ${uses.length} rights that the server uses are granted`)];
  if (missing.length === uses.length) return [nothingGranted(missing)];
  const byKind = Map.groupBy(missing, (use) => `${use.kind} ${use.for}`);
  return [...byKind.values()].flatMap((uses) => describe(uses));
}

/** One reason for all of them, so one finding, with one list of rules. */
function nothingGranted(missing: readonly { rule: string }[]): Finding {
  const fix = `cattail manifests rbac | kubectl apply -f - grants them; or add these rules to a role of the account:\n${rulesOf(missing)}`;
  return problem("RIGHTS_MISSING", `none of the ${missing.length} rights that the server uses is granted`, { fix });
}

function describe(missing: readonly (Use & { rule: string })[]): Finding[] {
  const [first] = missing;
  if (first === undefined) return [];
  const verbs = missing.map(({ verb }) => verb).join(" and ");
  const code =
    first.for === "setup"
      ? "RIGHT_MISSING_SETUP"
      : whenForbidden(first.kind) === "not ready"
        ? "RIGHT_MISSING"
        : "RIGHT_MISSING_OPTIONAL";
  const fix = `cattail manifests rbac | kubectl apply -f - grants all there are; this one alone:\n${rulesOf(missing)}`;
  return [problem(code, `may not ${verbs} ${plural(first.kind)}`, { fix })];
}

function plural(kind: Kind): string {
  const { kubernetes } = kindInfo(kind);
  if (kubernetes === undefined) return kind;
  return kubernetes.group === "calico" || kubernetes.group === ""
    ? kubernetes.plural
    : `${kubernetes.plural}.${kubernetes.group}`;
}

function rulesOf(missing: readonly { rule: string }[]): string {
  return [...new Set(missing.map(({ rule }) => rule.trimEnd()))].join("\n");
}
