// The frame around every view: name, navigation, and whether what is shown is live.
import { type Link, useOverview } from "./live.ts";
import { linkTo, useRoute, type View, views } from "./route.ts";
import { EndpointsView } from "./views/endpoints.tsx";
import { KeysView } from "./views/keys.tsx";
import { NodesView } from "./views/nodes.tsx";
import { OverviewPage } from "./views/overview.tsx";
import { WatchesView } from "./views/watches.tsx";

const titles: { readonly [view in View]: string } = {
  overview: "Overview",
  nodes: "Nodes",
  keys: "Keys",
  endpoints: "Endpoints",
  watches: "Watches",
};

export function App() {
  const { overview, link } = useOverview();
  const route = useRoute();
  const nowMs = overview?.nowMs ?? Date.now();
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header>
        <h1>
          <a href={linkTo("overview")}>Cattail</a>
        </h1>
        <nav aria-label="Views">
          {views.map((view) => (
            <a key={view} href={linkTo(view)} aria-current={route.view === view ? "page" : undefined}>
              {titles[view]}
            </a>
          ))}
        </nav>
        <LinkState link={link} />
      </header>
      <main id="main" tabIndex={-1}>
        <h2>{titles[route.view]}</h2>
        {link === "connecting" && overview === undefined ? (
          <p class="quiet">Waiting for the server's first answer…</p>
        ) : (
          <>
            {route.view === "overview" && overview !== undefined && <OverviewPage overview={overview} />}
            {route.view === "nodes" && <NodesView nowMs={nowMs} />}
            {route.view === "keys" && <KeysView nowMs={nowMs} parameters={route.parameters} />}
            {route.view === "endpoints" && <EndpointsView nowMs={nowMs} parameters={route.parameters} />}
            {route.view === "watches" && <WatchesView nowMs={nowMs} />}
          </>
        )}
      </main>
    </>
  );
}

function LinkState({ link }: { link: Link }) {
  const says = { connecting: "connecting", live: "live", lost: "server gone, trying again" } as const;
  return (
    <p class={`link ${link}`} role="status">
      {says[link]}
    </p>
  );
}
