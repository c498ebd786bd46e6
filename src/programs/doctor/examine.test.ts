import { deepEqual } from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { type CertificateFolder, certificateFolder, testAuthority } from "../../../test/kit/certificates.ts";
import { freePort } from "../../../test/kit/free-port.ts";
import { typhaSettings } from "../../../test/kit/typha-settings.ts";
import { systemClock } from "../../base/lib/index.ts";
import { createMemoryDatastore } from "../../calico/datastore/index.ts";
import { examineSetup } from "./examine.ts";
import { isProblem } from "./finding.ts";

const metrics = ({ server }: CertificateFolder) => ({
  TYPHA_PROMETHEUSMETRICSENABLED: "true",
  TYPHA_PROMETHEUSMETRICSPORT: "0",
  TYPHA_PROMETHEUSMETRICSCERTFILE: server.certFile,
  TYPHA_PROMETHEUSMETRICSKEYFILE: server.keyFile,
  TYPHA_PROMETHEUSMETRICSCAFILE: server.caFile,
});

type Case = {
  name: string;
  environment: (folder: CertificateFolder) => { [name: string]: string };
  codes: string[];
};
const cases: Case[] = [
  { name: "good files for the metrics", environment: metrics, codes: [] },
  {
    name: "metrics whose certificate is torn",
    environment: (folder) => {
      writeFileSync(folder.server.certFile, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END");
      return metrics(folder);
    },
    codes: ["TLS_CERTIFICATE_INVALID"],
  },
  {
    name: "metrics without a CA that ask nobody for a certificate",
    environment: (folder) => ({
      ...metrics(folder),
      TYPHA_PROMETHEUSMETRICSCAFILE: "",
      TYPHA_PROMETHEUSMETRICSCLIENTAUTH: "NoClientCert",
    }),
    codes: [],
  },
  {
    name: "metrics whose certificate is of another CA than those who come for them",
    environment: (folder) => {
      writeFileSync(folder.server.caFile, testAuthority().pair.certPem);
      return metrics(folder);
    },
    codes: [],
  },
  {
    name: "a cipher suite that the start would refuse",
    environment: (folder) => ({ ...metrics(folder), TLS_CIPHER_SUITES: "BOGUS" }),
    codes: ["SETTINGS_INVALID"],
  },
  {
    name: "a cipher suite that nothing uses",
    environment: () => ({ TLS_CIPHER_SUITES: "BOGUS" }),
    codes: [],
  },
];
const unnamed: { name: string; environment: { [name: string]: string }; sections: string[] }[] = [
  { name: "no setting at all", environment: {}, sections: ["settings"] },
  { name: "a kubeconfig, which many a shell has", environment: { KUBECONFIG: "/k" }, sections: ["settings", "ports"] },
];
for (const { name, environment, sections } of unnamed) {
  test(`before the start: ${name} is no datastore, and none is looked for`, async () => {
    const looked = await examineSetup({
      environment: { ...environment, ...(sections.length > 1 ? { TYPHA_SERVERPORT: `${await freePort()}` } : {}) },
      configFile: "",
      openDatastore: () => Promise.reject(new Error("nobody asked for it")),
      clock: systemClock,
    });
    deepEqual(
      looked.map((section) => section.name),
      sections,
    );
    const codes = looked.flatMap(({ findings }) => findings.filter(isProblem).map(({ code }) => code));
    deepEqual(
      codes.filter((code) => code !== "SETTINGS_PLAINTEXT"),
      ["SETTINGS_NONE"],
    );
  });
}

for (const { name, environment, codes } of cases) {
  test(`before the start: ${name}`, async () => {
    using folder = certificateFolder();
    const sections = await examineSetup({
      environment: await typhaSettings(environment(folder)),
      configFile: "",
      openDatastore: async () => createMemoryDatastore({ clock: systemClock }),
      clock: systemClock,
    });
    const found = sections.flatMap(({ findings }) => findings.filter(isProblem).map(({ code }) => code));
    // The other problems are about a datastore that is empty and a server without TLS.
    const about = found.filter((code) => code.startsWith("TLS_") || code === "SETTINGS_INVALID");
    deepEqual(about, codes);
  });
}
