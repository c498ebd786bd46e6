// The frame around every view: name, navigation, and whether what is shown is live.
import { useEffect, useRef } from "preact/hooks";
import { ago } from "./format.ts";
import { type Link, useNow, useOverview } from "./live.ts";
import { linkTo, useRoute, type View, views } from "./route.ts";
import { AddressesView } from "./views/addresses.tsx";
import { EndpointsView } from "./views/endpoints.tsx";
import { KeysView } from "./views/keys.tsx";
import { NodesView } from "./views/nodes.tsx";
import { OverviewPage } from "./views/overview.tsx";
import { PairView } from "./views/pair.tsx";
import { PoliciesPage } from "./views/policies.tsx";
import { WatchesView } from "./views/watches.tsx";

const titles: { readonly [view in View]: string } = {
  overview: "Overview",
  nodes: "Nodes",
  keys: "Keys",
  endpoints: "Pods and policies",
  policies: "Policies",
  pair: "May they talk?",
  addresses: "Addresses",
  watches: "Watches",
};

const shortTitles: { readonly [view in View]?: string } = { endpoints: "Pods", pair: "Explain" };

export function App() {
  const { overview, heardAtMs, link } = useOverview();
  const route = useRoute();
  const main = useRef<HTMLElement>(null);
  const before = useRef(route.view);
  useEffect(() => {
    document.title = `${titles[route.view]} · Cattail`;
    // On a phone the views are a row that is wider than the screen.
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    // Who moves by keyboard or screen reader goes on from the new view, not from the link behind them.
    if (before.current !== route.view) main.current?.focus();
    before.current = route.view;
  }, [route.view]);
  const nowMs = overview?.nowMs ?? Date.now();
  const { parameters } = route;
  return (
    <>
      {/* Not a link: the part behind "#" is the view. */}
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        Skip to content
      </button>
      <header>
        <h1>
          <a href={linkTo("overview")}>Cattail</a>
        </h1>
        <nav aria-label="Views">
          {views.map((view) => (
            <a key={view} href={linkTo(view)} aria-current={route.view === view ? "page" : undefined}>
              {shortTitles[view] ?? titles[view]}
            </a>
          ))}
        </nav>
        <LinkState link={link} />
      </header>
      {link === "lost" && <Gone heardAtMs={heardAtMs} />}
      <main id="main" ref={main} tabIndex={-1} class={link === "lost" ? "stale" : ""}>
        {overview === undefined ? (
          <p class="quiet">Waiting for the server's first answer…</p>
        ) : (
          <>
            {route.view === "overview" && <OverviewPage overview={overview} />}
            {route.view === "nodes" && <NodesView overview={overview} parameters={parameters} />}
            {route.view === "keys" && <KeysView overview={overview} parameters={parameters} />}
            {route.view === "endpoints" && <EndpointsView nowMs={nowMs} parameters={parameters} />}
            {route.view === "policies" && <PoliciesPage nowMs={nowMs} parameters={parameters} />}
            {route.view === "pair" && <PairView nowMs={nowMs} parameters={parameters} />}
            {route.view === "addresses" && <AddressesView nowMs={nowMs} parameters={parameters} />}
            {route.view === "watches" && <WatchesView nowMs={nowMs} />}
          </>
        )}
      </main>
    </>
  );
}

function LinkState({ link }: { link: Link }) {
  const says = { connecting: "connecting", live: "live", lost: "not live" } as const;
  return (
    <p class={`link ${link}`} role="status">
      {says[link]}
    </p>
  );
}

// The age is no part of the alert: a screen reader says that anew whenever it changes.
function Gone({ heardAtMs }: { heardAtMs: number | undefined }) {
  const nowMs = useNow();
  return (
    <section class="gone" aria-label="Connection">
      <span role="alert">
        <strong>The server does not answer.</strong> It may be restarting; this page goes on by itself as soon as it is
        back.
      </span>{" "}
      {heardAtMs !== undefined && <span>{`What you see is what it said last, ${ago(heardAtMs, nowMs)}.`}</span>}
    </section>
  );
}
