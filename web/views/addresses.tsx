// How the cluster's addresses are used: pools, blocks and their nodes, and what is held for pods that are not there.
import { useState } from "preact/hooks";
import type { AddressesView as Addresses, BlockView, PoolView } from "../../src/typha/dashboard/contract.ts";
import { ago, amount } from "../format.ts";
import { useAnswer } from "../live.ts";
import { SearchForm } from "../parts/search-form.tsx";
import { Empty, WithAnswer } from "../parts/state.tsx";
import { Total } from "../parts/total.tsx";
import { linkTo } from "../route.ts";

export function AddressesView({ nowMs, parameters }: { nowMs: number; parameters: URLSearchParams }) {
  const answer = useAnswer<Addresses>("/api/addresses", nowMs);
  return (
    <>
      <h2>Addresses</h2>
      <p class="quiet">
        A pool is cut into blocks; a node takes its pods' addresses from blocks of its own.{" "}
        <code>cattail ctl ipam check</code> looks deeper, and mends.
      </p>
      <WithAnswer answer={answer}>
        {(view) => (
          <>
            <Pools pools={view.pools} />
            <InVain view={view} />
            <Audits audits={view.audits} nowMs={nowMs} />
            <Blocks view={view} wanted={parameters.get("node") ?? ""} />
          </>
        )}
      </WithAnswer>
    </>
  );
}

function Pools({ pools }: { pools: readonly PoolView[] }) {
  if (pools.length === 0)
    return (
      <Empty title="No pool">Pods get no address before there is an IPPool: `cattail ctl apply -f pool.yaml`.</Empty>
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard
    <section class="card scroll" aria-label="Pools" tabIndex={0}>
      <table class="wide">
        <thead>
          <tr>
            <th scope="col">Pool</th>
            <th scope="col">In use</th>
            <th scope="col">Blocks</th>
            <th scope="col">Encapsulation</th>
            <th scope="col">NAT outgoing</th>
          </tr>
        </thead>
        <tbody>
          {pools.map((pool) => (
            <tr key={pool.cidr}>
              <th scope="row">
                {pool.cidr} {pool.isDisabled && <span class="quiet">disabled</span>}
              </th>
              <td>
                {amount(pool.used)} of {poolSize(pool.size)}
              </td>
              <td>{amount(pool.blocks)}</td>
              <td>{pool.encapsulation}</td>
              <td>{pool.natOutgoing ? "yes" : "no"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function poolSize(text: string): string {
  return text.length > 12 ? `2^${BigInt(text).toString(2).length - 1}` : amount(Number(text));
}

function InVain({ view: { inVain, inVainTotal } }: { view: Addresses }) {
  if (inVainTotal === 0) return <p class="good">Every address that is held for a pod belongs to one that is there.</p>;
  return (
    <section class="card" aria-label="Held in vain">
      <h3>{`${amount(inVainTotal)} ${inVainTotal === 1 ? "address is" : "addresses are"} held for pods without an endpoint`}</h3>
      <p class="quiet">
        A pod that is just starting is here for a moment. What stays is leaked:{" "}
        <code>cattail ctl ipam check --fix</code> frees it.
      </p>
      <ul class="links">
        {inVain.slice(0, 60).map(({ address, pod, node }) => (
          <li key={address}>
            {address} <span class="quiet">{`for ${pod}${node === "" ? "" : ` on ${node}`}`}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Nothing where no node makes one: it is off unless somebody asks for it. */
function Audits({ audits, nowMs }: { audits: Addresses["audits"]; nowMs: number }) {
  if (audits.length === 0) return null;
  return (
    <section class="card" aria-label="Audits">
      <h3>Audits</h3>
      {audits.map(({ node, atMs, findings, says }) => (
        <div key={node}>
          <p class={findings === 0 ? "good" : "bad"}>
            {`${findings === 0 ? "Nothing" : amount(findings)} found by ${node}, ${ago(atMs, nowMs)}`}
          </p>
          {says.length > 0 && (
            <ul>
              {says.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          )}
        </div>
      ))}
    </section>
  );
}

function Blocks({ view: { blocks, blockTotal }, wanted }: { view: Addresses; wanted: string }) {
  const [search, setSearch] = useState(wanted);
  const text = search.trim();
  const shown = blocks.filter((block) => `${block.cidr} ${block.node ?? ""}`.includes(text));
  return (
    <>
      <h3>Blocks</h3>
      <SearchForm label="Block" placeholder="node or network" search={search} setSearch={setSearch} />
      {shown.length === 0 ? (
        <Empty title="No block">
          {blockTotal === 0 ? "No node has claimed one yet: the first pod of a node does." : "None fits."}
        </Empty>
      ) : (
        <>
          <Total total={text === "" ? blockTotal : shown.length} shown={shown.length} one="block" />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard */}
          <section class="card scroll" aria-label="Blocks" tabIndex={0}>
            <table class="wide">
              <thead>
                <tr>
                  <th scope="col">Block</th>
                  <th scope="col">Node</th>
                  <th scope="col">In use</th>
                </tr>
              </thead>
              <tbody>
                {shown.map((block) => (
                  <Block key={block.path} block={block} />
                ))}
              </tbody>
            </table>
          </section>
        </>
      )}
    </>
  );
}

function Block({ block }: { block: BlockView }) {
  return (
    <tr>
      <th scope="row">
        <a href={linkTo("keys", { syncer: "felix", path: block.path })}>{block.cidr}</a>
      </th>
      <td>
        {block.node === null ? (
          <span class="quiet">no node's any more</span>
        ) : (
          <a href={linkTo("nodes", { node: block.node })}>{block.node}</a>
        )}
      </td>
      <td>
        <meter min={0} max={block.size} value={block.used} aria-label={`${block.used} of ${block.size} in use`} />{" "}
        {amount(block.used)} of {amount(block.size)}
      </td>
    </tr>
  );
}
