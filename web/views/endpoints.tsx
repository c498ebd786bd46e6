// For one pod: its endpoint, and which policies apply to it, in the order in which they are tried.
import { useState } from "preact/hooks";
import type { EndpointView, KeysView, PolicyView } from "../../src/typha/dashboard/contract.ts";
import { amount } from "../format.ts";
import { useAnswer } from "../live.ts";
import { SearchForm } from "../parts/search-form.tsx";
import { Empty, WithAnswer } from "../parts/state.tsx";
import { Total } from "../parts/total.tsx";
import { linkTo } from "../route.ts";
import { nodeOfKey, podOfKey } from "../words.ts";

export function EndpointsView({ nowMs, parameters }: { nowMs: number; parameters: URLSearchParams }) {
  const path = parameters.get("path");
  return path === null ? <FindEndpoint nowMs={nowMs} /> : <OneEndpoint path={path} nowMs={nowMs} />;
}

function FindEndpoint({ nowMs }: { nowMs: number }) {
  const [search, setSearch] = useState("");
  const query = new URLSearchParams({ syncer: "felix", kind: "WorkloadEndpoint", search: search.trim(), limit: "60" });
  const answer = useAnswer<KeysView>(`/api/keys?${query}`, nowMs);
  return (
    <>
      <h2>Pods and policies</h2>
      <p class="quiet">Choose a pod to see its network interface, its labels, and which policies apply to it.</p>
      <SearchForm label="Pod" placeholder="pod, namespace or node" search={search} setSearch={setSearch} />
      <WithAnswer answer={answer}>
        {({ rows, total }) =>
          rows.length === 0 ? (
            <Empty title="No pod">
              {search.trim() === "" ? "No pod has an address yet." : "No pod with an address matches."} Pods on the
              host's network are not listed: they have no interface of their own.
            </Empty>
          ) : (
            <>
              <Total total={total} shown={rows.length} one="pod" />
              <ul class="links">
                {rows.map((row) => (
                  <li key={row.path}>
                    <a href={linkTo("endpoints", { path: row.path })}>{podOfKey(row.path)}</a>{" "}
                    <span class="quiet">on {nodeOfKey(row.path)}</span>
                  </li>
                ))}
              </ul>
            </>
          )
        }
      </WithAnswer>
    </>
  );
}

function OneEndpoint({ path, nowMs }: { path: string; nowMs: number }) {
  const answer = useAnswer<EndpointView | null>(`/api/endpoint?${new URLSearchParams({ path })}`, nowMs);
  return (
    <>
      <h2>{podOfKey(path)}</h2>
      <p>
        <a href={linkTo("endpoints")}>← all pods</a> · <a href={linkTo("keys", { syncer: "felix", path })}>its key</a> ·{" "}
        <a href={linkTo("pair", { from: podOfKey(path) })}>whom may it talk to?</a>
      </p>
      <WithAnswer answer={answer} missing="There is no such pod (any more).">
        {(endpoint) => (
          <>
            <Endpoint endpoint={endpoint} />
            <h3>Policies that apply, in the order they are tried</h3>
            {endpoint.tiers.length === 0 ? (
              <Empty title="No policy applies">The profiles of this pod decide about its traffic.</Empty>
            ) : (
              endpoint.tiers.map((tier) => <Tier key={tier.tier} tier={tier} />)
            )}
            {endpoint.tiers.length > 0 && <Directions tiers={endpoint.tiers} />}
            {endpoint.unparsable.map(({ path: policy, why }) => (
              <p class="bad" key={policy}>
                {policy}: {why}
              </p>
            ))}
          </>
        )}
      </WithAnswer>
    </>
  );
}

function Endpoint({ endpoint }: { endpoint: EndpointView }) {
  return (
    <dl class="card facts">
      <dt>Address</dt>
      <dd>{endpoint.addresses.join(", ") || "none"}</dd>
      <dt>Node</dt>
      <dd>
        <a href={linkTo("nodes", { node: endpoint.node })}>{endpoint.node}</a>, interface {endpoint.name}
      </dd>
      <dt>Labels</dt>
      <dd>
        <Labels labels={endpoint.labels} />
      </dd>
      <dt>Profiles</dt>
      <dd>
        {endpoint.profiles.join(", ") || "none"}
        {Object.keys(endpoint.inheritedLabels).length > 0 && (
          <>
            , which add the labels <Labels labels={endpoint.inheritedLabels} />
          </>
        )}
      </dd>
    </dl>
  );
}

function Tier({ tier }: { tier: EndpointView["tiers"][number] }) {
  return (
    <section class="card" aria-label={`Tier ${tier.tier}`}>
      <h4>
        Tier {tier.tier} <span class="quiet">order {tier.order === null ? "last" : amount(tier.order)}</span>
      </h4>
      <ol class="policies">
        {tier.policies.map((policy) => (
          <Policy key={policy.path} policy={policy} />
        ))}
      </ol>
      <p class="quiet">{tierEnd(tier)}</p>
    </section>
  );
}

const directions = ["ingress", "egress"] as const;
type Direction = (typeof directions)[number];

function isEnforced(tier: EndpointView["tiers"][number], direction: Direction): boolean {
  return tier.policies.some((policy) => !policy.staged && policy.types.includes(direction));
}

/** A tier has the last word only in a direction in which one of its enforced policies applies. */
function tierEnd(tier: EndpointView["tiers"][number]): string {
  const decided = directions.filter((direction) => isEnforced(tier, direction));
  if (decided.length === 0) return "Nothing here is enforced: staged policies only record what they would do.";
  const end = tier.defaultAction === "Pass" ? "goes on to the next tier" : "is denied";
  return `${capital(decided.join(" and "))} traffic that no rule here matches ${end}.`;
}

/** What is known without the rules themselves: which policies have a say in each direction. */
function Directions({ tiers }: { tiers: EndpointView["tiers"] }) {
  return (
    <>
      {directions
        .filter((direction) => !tiers.some((tier) => isEnforced(tier, direction)))
        .map((direction) => (
          <p key={direction} class="quiet">
            {capital(direction)}: no enforced policy applies. The profiles of this pod decide.
          </p>
        ))}
    </>
  );
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function Policy({ policy }: { policy: PolicyView }) {
  const name = policy.namespace === "" ? policy.name : `${policy.namespace}/${policy.name}`;
  return (
    <li>
      <a href={linkTo("policies", { path: policy.path })}>{name}</a>{" "}
      <span class="quiet">
        {policy.kind}, order {policy.order === null ? "last" : amount(policy.order)}, {rules(policy)}
        {policy.staged ? ", staged: not enforced" : ""}
      </span>
      <code>{policy.selector || "all()"}</code>
    </li>
  );
}

function rules({ types, inboundRules, outboundRules }: PolicyView): string {
  const of = (type: string, count: number) =>
    types.includes(type) ? [`${amount(count)} ${type} ${count === 1 ? "rule" : "rules"}`] : [];
  return [...of("ingress", inboundRules), ...of("egress", outboundRules)].join(", ") || "no rules";
}

function Labels({ labels }: { labels: { [label: string]: string } }) {
  const entries = Object.entries(labels);
  if (entries.length === 0) return <>none</>;
  return (
    <ul class="labels">
      {entries.map(([label, value]) => (
        <li key={label}>
          {label}={value}
        </li>
      ))}
    </ul>
  );
}
