// A cluster whose Calico kinds are served as projectcalico.org/v3 only: found by discovery, followed and written there.
// Reached through a proxy that the kubeconfig names.
import { deepEqual, equal, rejects } from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog, systemClock } from "../../src/base/lib/index.ts";
import { openKubernetes } from "../../src/calico/datastore/index.ts";
import { clusterPeer, startCluster } from "../kit/cluster.ts";
import { customKinds, installCrds, openCrd } from "../kit/crds.ts";
import { eventually } from "../kit/eventually.ts";
import { followState } from "../kit/follow-state.ts";

const skip = (await clusterPeer()).missing ?? false;
const edge = { clock: systemClock, log: silentLog };

test("Calico's kinds are found in projectcalico.org/v3, and through a proxy that is allowed", { skip }, async () => {
  await using cluster = await startCluster();
  await installCrds(
    cluster,
    customKinds.map((kind) => openCrd(kind, { group: "projectcalico.org", version: "v3" })),
  );
  const { proxy, tunnels } = await startProxy();
  try {
    const kubeconfig = join(cluster.dir, "proxied.kubeconfig");
    const text = await readFile(cluster.kubeconfig, "utf8");
    const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await writeFile(kubeconfig, text.replace('"server":', `"proxy-url":"${proxyUrl}","server":`));
    await rejects(openKubernetes({ kubeconfig }, edge), { code: "KUBECONFIG_PROXY" });
    await using datastore = await openKubernetes({ kubeconfig, allowProxy: true }, edge);
    equal(await datastore.calicoGroup(), "projectcalico.org");
    await using state = followState(datastore, "Tier");
    await eventually(state.isInSync, "in sync");
    const made = await datastore.create("Tier", { metadata: { name: "t" } });
    equal(Object(made.value).apiVersion, "projectcalico.org/v3");
    await eventually(() => state.objects.has("/t"), "the tier");
    deepEqual([...new Set(tunnels)], [`127.0.0.1:${cluster.port}`]);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
});

async function startProxy(): Promise<{ proxy: Server; tunnels: string[] }> {
  const tunnels: string[] = [];
  const proxy = createServer();
  proxy.on("connect", (request, socket) => {
    tunnels.push(request.url ?? "");
    const [host = "", port = ""] = (request.url ?? "").split(":");
    const upstream = connect(Number(port), host, () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket);
      socket.pipe(upstream);
    });
    // Either end may go first, as it does when the test is over.
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
    socket.on("close", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  return { proxy, tunnels };
}
