// The node's name of what runs after start-up, or beside Felix and confd: the name under which start-up has registered it.
import { equal, rejects } from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { silentLog } from "../../base/lib/index.ts";
import { felixSettings, NodeLiveSettings } from "../../node/settings/index.ts";
import { nameOfStartup } from "./agent-process.ts";

const rows: { felix?: string; environment: { [name: string]: string }; file?: string; is: string | undefined }[] = [
  { felix: "f1", environment: { NODENAME: "n1" }, file: "stored", is: "f1" },
  { environment: { NODENAME: " n1 " }, file: "stored", is: "n1" },
  { environment: { HOSTNAME: "H1" }, file: "stored", is: "stored" },
  { environment: { HOSTNAME: "H1" }, is: "h1" },
  { environment: { NODENAME: "a/b" }, is: undefined },
];
for (const { felix, environment, file, is } of rows)
  test(`${JSON.stringify({ ...environment, felix, file })} is ${is ?? "refused"}`, async () => {
    const dir = mkdtempSync(join(tmpdir(), "cattail-name-"));
    try {
      const path = join(dir, "nodename");
      if (file !== undefined) writeFileSync(path, file);
      const given = felix === undefined ? {} : { FelixHostname: felix };
      const local = { environment: given, file: {} };
      const settings = felixSettings(new NodeLiveSettings(local, { checks: { exists: () => true }, log: silentLog }));
      const around = { signal: AbortSignal.timeout(5000), stop: () => undefined, log: silentLog, settings };
      const name = nameOfStartup({ ...around, environment: { ...environment, CALICO_NODENAME_FILE: path } });
      if (is === undefined) await rejects(name, { code: "NODE_NAME" });
      else equal(await name, is);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
