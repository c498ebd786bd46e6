// What is demanded of a policy as a whole, beyond its fields: its name again, more strictly, its types, and which rules may
// say what.
import { type Problem, printGo } from "../checks/check.ts";
import { isPolicyName, strictMetadataProblems } from "../checks/metadata.ts";
import type { SpecObject } from "../kind.ts";
import type { Rule } from "./rule.ts";

export type PolicySpec = {
  readonly stagedAction?: string | undefined;
  readonly tier?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly ingress?: readonly Rule[] | undefined;
  readonly egress?: readonly Rule[] | undefined;
};

type PolicyForm = {
  /** Go's name of the spec's type. */
  readonly specName: string;
  readonly isGlobal: boolean;
};

export function* policyProblems({ metadata, spec }: SpecObject<PolicySpec>, form: PolicyForm): Generator<Problem> {
  const isReserved = (name: string) => !form.isGlobal && /^(?:knp|ossg)\.default\./.test(name);
  yield* strictMetadataProblems(metadata, { isName: (name) => isReserved(name) || isPolicyName(name) });
  // Of one that says what goes, only that it says nothing else (stagedDeleteProblems).
  if (spec.stagedAction === "Delete") return;
  const { types = [], ingress = [], egress = [] } = spec;
  for (const twice of types.filter((type, index) => types.indexOf(type) < index)) {
    yield {
      field: "spec.types",
      rule: "must not have one twice",
      // Of a staged policy what it will be is looked at.
      name: `${form.specName.replace(/^Staged/, "")}.Types`,
      value: printGo(types),
      reason: `'${twice}' type specified more than once`,
    };
  }
  for (const [at, rule] of egress.entries()) yield* egressProblems(rule, `spec.egress[${at}]`, form);
  for (const [at, rule] of ingress.entries()) yield* ingressProblems(rule, `spec.ingress[${at}]`, form);
}

function* egressProblems(rule: Rule, path: string, { isGlobal }: PolicyForm): Generator<Problem> {
  if (rule.http !== undefined) {
    const value = `&${printGo({ methods: rule.http.methods ?? [], paths: rule.http.paths ?? [] })}`;
    const reason = `not allowed in egress rule${isGlobal ? "s" : ""}`;
    yield { field: `${path}.http`, rule: "is for ingress rules", name: "HTTP", value, reason };
  }
  yield* servicesProblems(rule.source?.services, `${path}.source`, "not allowed in egress rule source");
  if (isGlobal) yield* namespaceProblems(rule.destination?.services, `${path}.destination`);
}

function* ingressProblems(rule: Rule, path: string, { isGlobal }: PolicyForm): Generator<Problem> {
  yield* servicesProblems(rule.destination?.services, `${path}.destination`, "not allowed in ingress rule destination");
  if (isGlobal) yield* namespaceProblems(rule.source?.services, `${path}.source`);
}

type Services = { readonly name?: string | undefined; readonly namespace?: string | undefined };

function* servicesProblems(services: Services | undefined, path: string, reason: string): Generator<Problem> {
  if (services === undefined) return;
  const value = `&${printGo({ name: services.name ?? "", namespace: services.namespace ?? "" })}`;
  const rule = "is for the other end of the rule: the one that is far from the policy's endpoints";
  yield { field: `${path}.services`, rule, name: "Services", value, reason };
}

function* namespaceProblems(services: Services | undefined, path: string): Generator<Problem> {
  if (services === undefined || (services.namespace ?? "") !== "") return;
  const reason = "must specify a namespace";
  yield { field: `${path}.services.namespace`, rule: "must be given", name: "Namespace", value: "", reason };
}

/** A staged policy that only says that another one is to go has nothing else to say. */
export function* stagedDeleteProblems(
  spec: { readonly stagedAction?: string | undefined; readonly [field: string]: unknown },
  said: {
    readonly specName: string;
    readonly value: string;
    readonly except: string;
    readonly besides: readonly string[];
  },
): Generator<Problem> {
  if (spec.stagedAction !== "Delete") return;
  const isSet = (value: unknown) =>
    value !== undefined && value !== "" && value !== false && !(typeof value === "object" && isEmpty(Object(value)));
  const others = Object.entries(spec).filter(([field]) => field !== "stagedAction" && !said.besides.includes(field));
  if (!others.some(([, value]) => isSet(value))) return;
  yield {
    field: "spec",
    rule: "must have nothing but stagedAction Delete",
    name: said.specName,
    value: said.value,
    reason: `Spec fields${said.except} should all be zero-value if stagedAction is Delete`,
  };
}

function isEmpty(value: object): boolean {
  return Object.keys(value).length === 0;
}
