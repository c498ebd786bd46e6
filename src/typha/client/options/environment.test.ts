import { deepEqual, equal, throws } from "node:assert/strict";
import { test } from "node:test";
import { type ClientEnvironment, optionsFromEnvironment } from "./environment.ts";

const files = { FELIX_TYPHAKEYFILE: "k", FELIX_TYPHACERTFILE: "c", FELIX_TYPHACAFILE: "a" };

const cases: { name: string; environment: ClientEnvironment; options: object }[] = [
  { name: "nothing set is no server and no TLS", environment: {}, options: {} },
  { name: "a fixed address", environment: { FELIX_TYPHAADDR: "h:1" }, options: { servers: "h:1" } },
  {
    name: "none is as if it were not set, and the next prefix is asked",
    environment: { FELIX_TYPHAADDR: "none", CALICO_TYPHAADDR: "h:2" },
    options: { servers: "h:2" },
  },
  {
    name: "all the TLS there is",
    environment: { ...files, FELIX_TYPHACN: "calico-typha", FELIX_TYPHAURISAN: "spiffe://x" },
    options: {
      tls: { keyFile: "k", certFile: "c", caFile: "a", server: { commonName: "calico-typha", uriSan: "spiffe://x" } },
    },
  },
  {
    name: "timeouts in seconds, and those that cannot be read left out",
    environment: { FELIX_TYPHAREADTIMEOUT: "2.5", FELIX_TYPHAWRITETIMEOUT: "soon" },
    options: { readTimeoutMs: 2500 },
  },
];
for (const { name, environment, options } of cases) {
  test(`environment: ${name}`, () => deepEqual(optionsFromEnvironment(environment), options));
}

test("environment: a service is a discovery, and an address beats it", () => {
  equal(typeof optionsFromEnvironment({ FELIX_TYPHAK8SSERVICENAME: "calico-typha" }).servers, "function");
  equal(optionsFromEnvironment({ FELIX_TYPHAK8SSERVICENAME: "calico-typha", FELIX_TYPHAADDR: "h:1" }).servers, "h:1");
});

test("environment: half a set of TLS settings is refused with the names of what is missing", () => {
  throws(() => optionsFromEnvironment(files), /: FELIX_TYPHACN or FELIX_TYPHAURISAN\./);
  throws(() => optionsFromEnvironment({ FELIX_TYPHACN: "x" }), /FELIX_TYPHAKEYFILE/);
});
