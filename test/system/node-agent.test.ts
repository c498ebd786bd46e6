// The agent around its parts, with real sources of the cluster's state: a folder, and a Typha of ours over mutual TLS that is killed and comes
// back. The part is a test's, which only listens. What the whole agent does on a machine: node-run.test.ts.
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { afterTest } from "../kit/after-test.ts";
import { Cattail } from "../kit/cattail-process.ts";
import { certificateFolder } from "../kit/certificates.ts";
import { eventually } from "../kit/eventually.ts";
import { freePort } from "../kit/free-port.ts";
import { startListeningAgent as startAgent } from "../kit/listening-agent.ts";
import { tlsSettings, typhaSettings } from "../kit/typha-settings.ts";

const options = { timeout: 300_000 };

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "cattail-agent-"));
  afterTest(t).defer(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const object = (kind: string, name: string, spec: object) =>
  JSON.stringify({ apiVersion: "projectcalico.org/v3", kind, metadata: { name }, spec });
const networkSet = (name: string, nets: readonly string[]) => object("GlobalNetworkSet", name, { nets });
const setPath = (name: string) => `/calico/v1/netset/${name}`;

test(
  "on a folder: ready when in sync, settings change live, and a part that fails starts again with everything told anew",
  options,
  async (t) => {
    const path = folder(t);
    writeFileSync(join(path, "set.json"), networkSet("a", ["10.0.0.0/8"]));
    const agent = await startAgent(t, { DATASTORE_TYPE: "directory", DATASTORE_DIRECTORY: path });
    await agent.ready("at the start");
    ok(agent.part.keys.has(setPath("a")));

    const changed = new Promise<readonly string[]>((resolve) => void agent.part.world?.settings.onChange(resolve));
    writeFileSync(join(path, "config.json"), object("FelixConfiguration", "default", { vxlanPort: 4790 }));
    ok((await changed).includes("VXLANPort"));
    equal(agent.settings.value("VXLANPort"), 4790);
    writeFileSync(join(path, "own.json"), object("FelixConfiguration", "node.n1", { vxlanPort: 4791 }));
    await eventually(() => agent.settings.value("VXLANPort") === 4791, "the node's own configuration");
    rmSync(join(path, "own.json"));
    await eventually(() => agent.settings.value("VXLANPort") === 4790, "the cluster's again");

    writeFileSync(join(path, "config.json"), object("FelixConfiguration", "default", { interfacePrefix: "no name" }));
    await eventually(
      async () => /InterfacePrefix is "no name"/.test((await agent.readiness()).text),
      "what is wrong, in health",
    );
    equal((await agent.readiness()).isReady, false);
    deepEqual(agent.settings.value("InterfacePrefix"), ["cali"]);
    rmSync(join(path, "config.json"));
    await agent.ready("mended");

    const port = await freePort();
    const spec = { prometheusMetricsEnabled: true, prometheusMetricsHost: "127.0.0.1", prometheusMetricsPort: port };
    const scraped = async () =>
      await fetch(`http://127.0.0.1:${port}/metrics`).then(
        (answer) => answer.text(),
        () => "",
      );
    writeFileSync(join(path, "config.json"), object("FelixConfiguration", "default", spec));
    await eventually(async () => (await scraped()).includes('felix_host{host="n1"} 1'), "metrics are switched on");
    rmSync(join(path, "config.json"));
    await eventually(async () => (await scraped()) === "", "metrics are switched off");

    const information = (ready: boolean) => object("ClusterInformation", "default", { datastoreReady: ready });
    writeFileSync(join(path, "information.json"), information(false));
    await eventually(
      async () => /CalculationGraph .*marked as not ready/.test((await agent.readiness()).text),
      "a datastore that is not ready",
    );
    rmSync(join(path, "set.json"));
    writeFileSync(join(path, "set-a.json"), networkSet("a", ["10.0.0.0/9"]));
    writeFileSync(join(path, "information.json"), information(true));
    await agent.ready("the datastore is");
    match(agent.part.keys.get(setPath("a")) ?? "", /10\.0\.0\.0\/9/);

    agent.part.fail();
    await eventually(
      async () => /listening .*failed and is started again: as the test says/.test((await agent.readiness()).text),
      "said in health",
    );
    rmSync(join(path, "set-a.json"));
    writeFileSync(join(path, "set-b.json"), networkSet("b", ["10.0.0.0/8"]));
    await agent.ready("started again");
    await eventually(() => agent.part.keys.has(setPath("b")) && !agent.part.keys.has(setPath("a")), "the new state");
    equal(agent.part.starts, 2);
    match(await agent.metrics.text(), /cattail_node_part_failures_total\{part="listening"\} 1/);
  },
);

test(
  "through a Typha with mutual TLS: it dies, the agent keeps what it knows and says so, and hears what went meanwhile",
  options,
  async (t) => {
    const path = folder(t);
    writeFileSync(join(path, "a.json"), networkSet("a", ["10.0.0.0/8"]));
    writeFileSync(join(path, "b.json"), networkSet("b", ["10.0.0.0/8"]));
    using certificates = certificateFolder();
    const typhaEnvironment = await typhaSettings({
      ...tlsSettings(certificates),
      TYPHA_DATASTORETYPE: "directory",
      TYPHA_DATASTOREDIRECTORY: path,
    });
    const startTypha = async () => {
      const typha = new Cattail(["typha"], { env: typhaEnvironment });
      afterTest(t).use(typha);
      await typha.says(/listening/);
      return typha;
    };
    const first = await startTypha();
    const { client } = certificates;
    const agent = await startAgent(t, {
      FELIX_TYPHAADDR: `127.0.0.1:${typhaEnvironment.TYPHA_SERVERPORT}`,
      FELIX_TYPHACAFILE: client.caFile,
      FELIX_TYPHACERTFILE: client.certFile,
      FELIX_TYPHAKEYFILE: client.keyFile,
      FELIX_TYPHACN: "calico-typha",
    });
    await agent.ready("at the start");
    deepEqual([agent.part.keys.has(setPath("a")), agent.part.keys.has(setPath("b"))], [true, true]);

    first.process.kill("SIGKILL");
    await first.ended;
    await eventually(
      async () => /CalculationGraph .*reporting non-ready.*no connection to Typha/.test((await agent.readiness()).text),
      "not ready, and why",
    );
    deepEqual([agent.part.state.inSync, agent.part.keys.has(setPath("a")), agent.part.starts], [true, true, 1]);
    rmSync(join(path, "a.json"));
    writeFileSync(join(path, "config.json"), object("FelixConfiguration", "default", { vxlanPort: 4790 }));

    await startTypha();
    await agent.ready("with the new server");
    await eventually(() => !agent.part.keys.has(setPath("a")), "what went is deleted");
    ok(agent.part.keys.has(setPath("b")));
    equal(agent.part.starts, 1);
    equal(agent.settings.value("VXLANPort"), 4790);
  },
);
