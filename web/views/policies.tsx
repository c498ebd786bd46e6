// Every policy in the order of its tier, with what its rules have let pass and denied on the nodes that say so; and one of them, rule by rule.
import { useState } from "preact/hooks";
import type { PoliciesView, PolicyHitsView } from "../../src/typha/dashboard/contract.ts";
import { amount, bytes } from "../format.ts";
import { useAnswer } from "../live.ts";
import { Headings } from "../parts/headings.tsx";
import { HowToAsk } from "../parts/health.tsx";
import { type Column, Rows } from "../parts/rows.tsx";
import { SearchForm } from "../parts/search-form.tsx";
import { Empty, WithAnswer } from "../parts/state.tsx";
import { Total } from "../parts/total.tsx";
import { linkTo } from "../route.ts";

export function PoliciesPage({ nowMs, parameters }: { nowMs: number; parameters: URLSearchParams }) {
  const [search, setSearch] = useState("");
  const path = parameters.get("path");
  const query = path === null ? search.trim() : (path.split("/").at(-1) ?? "");
  const answer = useAnswer<PoliciesView>(`/api/policies?${new URLSearchParams({ search: query })}`, nowMs);
  return (
    <>
      {path === null && <h2>Policies</h2>}
      {path === null && (
        <SearchForm label="Policy" placeholder="name, namespace or kind" search={search} setSearch={setSearch} />
      )}
      <WithAnswer answer={answer}>
        {(view) => (path === null ? <List view={view} search={search} /> : <One view={view} path={path} />)}
      </WithAnswer>
    </>
  );
}

function isCounted({ counted }: PoliciesView): boolean {
  return counted.heard > 0;
}

function List({ view, search }: { view: PoliciesView; search: string }) {
  if (view.policies.length === 0)
    return (
      <Empty title="No policy">
        {search.trim() === ""
          ? "There is none in the cluster: everything that profiles allow may pass."
          : "None has such a name."}
      </Empty>
    );
  return (
    <>
      <Total total={view.total} shown={view.policies.length} one="policy" many="policies">
        {countedText(view)}
      </Total>
      <Rows
        label="Policies"
        columns={columns(isCounted(view))}
        rows={view.policies}
        rowKey={({ path }) => path}
        isShort
      />
      {!isCounted(view) && <HowToAsk notAsked={view.notAsked} />}
      <Others view={view} />
    </>
  );
}

function countedText({ counted, notAsked }: PoliciesView): string {
  if (notAsked !== null) return ", packets are not counted here";
  const { length } = counted.silent;
  const silent = length === 0 ? "" : `, ${amount(length)} ${length === 1 ? "does" : "do"} not answer`;
  return `, packets counted by ${amount(counted.heard)} of ${amount(counted.of)} nodes${silent}`;
}

function nameOf({ namespace, name }: PolicyHitsView): string {
  return namespace === "" ? name : `${namespace}/${name}`;
}

function columns(isCounted_: boolean): Column<PolicyHitsView>[] {
  const count = (title: "allowed" | "denied"): Column<PolicyHitsView> => ({
    title,
    width: "10%",
    isNumber: true,
    cell: ({ hits, staged }) =>
      !isCounted_ || staged ? (
        <span class="quiet">–</span>
      ) : (
        <span class={title === "denied" && hits.denied > 0 ? "bad" : ""}>{amount(hits[title])}</span>
      ),
    sortBy: ({ hits }) => -hits[title],
  });
  return [
    {
      title: "policy",
      width: "28%",
      narrowWidth: "48%",
      cell: (policy) => <a href={linkTo("policies", { path: policy.path })}>{nameOf(policy)}</a>,
      sortBy: nameOf,
    },
    {
      title: "kind",
      width: "20%",
      isMinor: true,
      cell: ({ kind, staged }) => (staged ? `${kind}, not enforced` : kind),
      sortBy: ({ kind }) => kind,
    },
    { title: "tier", width: "12%", isMinor: true, cell: ({ tier }) => tier },
    {
      title: "order",
      width: "9%",
      isNumber: true,
      isMinor: true,
      cell: ({ order }) => (order === null ? "last" : amount(order)),
    },
    {
      title: "rules",
      width: "9%",
      isNumber: true,
      isMinor: true,
      cell: ({ rules }) => amount(rules.length),
      sortBy: ({ rules }) => -rules.length,
    },
    count("allowed"),
    count("denied"),
  ];
}

function One({ view, path }: { view: PoliciesView; path: string }) {
  const policy = view.policies.find((one) => one.path === path);
  if (policy === undefined)
    return (
      <Empty title="Not there">
        There is no such policy (any more). <a href={linkTo("policies")}>All policies</a>
      </Empty>
    );
  const { kind, tier, order, selector, staged, types, rules } = policy;
  const hasCounts = isCounted(view) && !staged;
  return (
    <section aria-label={`Policy ${nameOf(policy)}`}>
      <h2>{nameOf(policy)}</h2>
      <p>
        <a href={linkTo("policies")}>← all policies</a> ·{" "}
        <a href={linkTo("keys", { syncer: "felix", path })}>its key</a>
      </p>
      <dl class="card facts">
        <dt>Kind</dt>
        <dd>{staged ? `${kind}: on trial, not enforced` : kind}</dd>
        <dt>Tier</dt>
        <dd>
          {tier}, order {order === null ? "last" : amount(order)}
        </dd>
        <dt>Applies to</dt>
        <dd>
          <code>{selector || "all()"}</code>
        </dd>
        <dt>Decides</dt>
        <dd>{types.join(" and ") || "nothing"}</dd>
        <dt>Counted by</dt>
        <dd>{countedText(view).replace(/^, (packets counted by )?/, "")}</dd>
      </dl>
      {rules.length === 0 ? (
        <Empty title="No rules">{`${types.join(" and ") || "No"} traffic of these pods that no other policy of the tier allows is denied.`}</Empty>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
        <section class="card scroll" aria-label="Rules" tabIndex={0}>
          <table class="wide">
            <thead>
              <Headings columns={["rule", "what it says", { number: "packets" }, { number: "bytes" }, "most on"]} />
            </thead>
            <tbody>
              {rules.map((rule) => (
                <tr key={`${rule.direction} ${rule.number}`}>
                  <th scope="row" class="oneline">
                    {rule.direction} {rule.number}
                  </th>
                  <td class="words">{rule.text}</td>
                  <td class="number">{hasCounts ? amount(rule.packets) : "–"}</td>
                  <td class="number">{hasCounts ? bytes(rule.bytes) : "–"}</td>
                  <td>
                    {rule.nodes.slice(0, 3).map(({ node, packets }) => (
                      <span key={node} class="oneline">
                        <a href={linkTo("nodes", { node })}>{node}</a> <span class="quiet">{amount(packets)}</span>{" "}
                      </span>
                    ))}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="quiet">Each node counts anew when the rule changes there, and when its table is made anew.</p>
        </section>
      )}
      {!isCounted(view) && <HowToAsk notAsked={view.notAsked} />}
    </section>
  );
}

function Others({ view: { others } }: { view: PoliciesView }) {
  if (others.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
    <section class="card scroll" aria-label="Decided by no policy" tabIndex={0}>
      <h3>Decided by no policy</h3>
      <table class="wide">
        <thead>
          <Headings columns={["what", "what became of them", { number: "packets" }]} />
        </thead>
        <tbody>
          {others.map(({ what, action, packets }) => (
            <tr key={`${what} ${action}`}>
              <th scope="row">{what}</th>
              <td>{action}</td>
              <td class="number">{amount(packets)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
