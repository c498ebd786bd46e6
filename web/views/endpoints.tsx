// For one pod: its endpoint, and which policies apply to it, in the order in which they are tried.
import { useState } from "preact/hooks";
import type { EndpointView, KeysView, PolicyView } from "../../src/dashboard/contract.ts";
import { useAnswer } from "../live.ts";
import { Empty, WithAnswer } from "../parts/state.tsx";
import { linkTo } from "../route.ts";

export function EndpointsView({ nowMs, parameters }: { nowMs: number; parameters: URLSearchParams }) {
  const path = parameters.get("path");
  return path === null ? <FindEndpoint nowMs={nowMs} /> : <OneEndpoint path={path} nowMs={nowMs} />;
}

function FindEndpoint({ nowMs }: { nowMs: number }) {
  const [search, setSearch] = useState("");
  const query = new URLSearchParams({ syncer: "felix", kind: "WorkloadEndpoint", search, limit: "50" });
  const answer = useAnswer<KeysView>(`/api/keys?${query}`, nowMs);
  return (
    <>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <label>
          Pod{" "}
          <input
            type="search"
            value={search}
            placeholder="part of a pod's, namespace's or node's name"
            onInput={(event) => setSearch(event.currentTarget.value)}
          />
        </label>
      </form>
      <WithAnswer answer={answer}>
        {({ rows }) =>
          rows.length === 0 ? (
            <Empty title="No endpoint">
              No pod with an address matches. Pods on the host's network have no endpoint of their own.
            </Empty>
          ) : (
            <ul class="links">
              {rows.map((row) => (
                <li key={row.path}>
                  <a href={linkTo("endpoints", { path: row.path })}>{podName(row.path)}</a>
                </li>
              ))}
            </ul>
          )
        }
      </WithAnswer>
    </>
  );
}

function OneEndpoint({ path, nowMs }: { path: string; nowMs: number }) {
  const answer = useAnswer<EndpointView>(`/api/endpoint?${new URLSearchParams({ path })}`, nowMs);
  return (
    <>
      <p>
        <a href={linkTo("endpoints")}>← another pod</a> ·{" "}
        <a href={linkTo("keys", { syncer: "felix", path })}>its key</a>
      </p>
      <WithAnswer answer={answer}>
        {(endpoint) => (
          <>
            <h3>{podName(path)}</h3>
            <p>
              on {endpoint.node}, {endpoint.name}, {endpoint.addresses.join(", ") || "no address"}
            </p>
            <Labels labels={endpoint.labels} inherited={endpoint.inheritedLabels} />
            <p>Profiles: {endpoint.profiles.join(", ") || "none"}</p>
            {endpoint.tiers.length === 0 ? (
              <Empty title="No policy applies">Traffic of this pod is decided by its profiles alone.</Empty>
            ) : (
              endpoint.tiers.map((tier) => (
                <section class="card" key={tier.tier}>
                  <h4>
                    Tier {tier.tier}{" "}
                    <span class="quiet">
                      order {tier.order ?? "last"}, else {tier.defaultAction}
                    </span>
                  </h4>
                  <ol class="policies">
                    {tier.policies.map((policy) => (
                      <Policy key={policy.path} policy={policy} />
                    ))}
                  </ol>
                </section>
              ))
            )}
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

function Policy({ policy }: { policy: PolicyView }) {
  const name = policy.namespace === "" ? policy.name : `${policy.namespace}/${policy.name}`;
  return (
    <li>
      <a href={linkTo("keys", { syncer: "felix", path: policy.path })}>{name}</a>{" "}
      <span class="quiet">
        {policy.kind}, order {policy.order ?? "last"}, {policy.types.join(" and ")}
        {policy.staged ? ", staged: only watched, not enforced" : ""}
      </span>
      <code>{policy.selector || "all()"}</code>
    </li>
  );
}

function Labels({
  labels,
  inherited,
}: {
  labels: { [label: string]: string };
  inherited: { [label: string]: string };
}) {
  return (
    <ul class="labels" aria-label="Labels">
      {Object.entries(labels).map(([label, value]) => (
        <li key={label}>
          {label}={value}
        </li>
      ))}
      {Object.entries(inherited).map(([label, value]) => (
        <li key={`inherited ${label}`} class="inherited" title="from a profile">
          {label}={value}
        </li>
      ))}
    </ul>
  );
}

/** /calico/v1/host/NODE/workload/k8s/NAMESPACE%2fPOD/endpoint/eth0 → NAMESPACE/POD */
function podName(path: string): string {
  return (path.split("/")[7] ?? path).replaceAll("%2f", "/").replaceAll("%25", "%");
}
