import { equal, match, ok, rejects } from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { certificateFolder, testAuthority } from "../../../../test/kit/certificates.ts";
import { type LogLine, recordLog } from "../../../../test/kit/recorded-log.ts";
import type { ReloadOutcome } from "../../lib/index.ts";
import { silentLog, systemClock } from "../../lib/index.ts";
import { renewCertificate } from "../certificates/issue.ts";
import { type CertifiedKey, parseTlsMaterial, type TlsFilesWatcher, tlsProblems, watchTlsFiles } from "../index.ts";

type Setup = AsyncDisposable & {
  folder: string;
  watcher: TlsFilesWatcher;
  lines: LogLine[];
  write(pair: Partial<CertifiedKey>, ca?: string): void;
};

const old = testAuthority("Old CA");
const fresh = testAuthority("New CA");

async function setUp(
  first: CertifiedKey = old.server(),
  options: { pollMs?: number; debounceMs?: number; nowMs?: () => number } = {},
): Promise<Setup> {
  const folder = mkdtempSync(join(tmpdir(), "cattail-tls-"));
  const { log, lines } = recordLog();
  const write: Setup["write"] = ({ certPem, keyPem }, ca) => {
    if (certPem !== undefined) writeFileSync(join(folder, "tls.crt"), certPem);
    if (keyPem !== undefined) writeFileSync(join(folder, "tls.key"), keyPem);
    if (ca !== undefined) writeFileSync(join(folder, "ca.crt"), ca);
  };
  write(first, old.pair.certPem);
  const files = { certFile: join(folder, "tls.crt"), keyFile: join(folder, "tls.key"), caFile: join(folder, "ca.crt") };
  const removeFolder = () => rmSync(folder, { recursive: true, force: true });
  const watching = watchTlsFiles(files, {
    role: "server",
    log,
    clock: { ...systemClock, wallMs: options.nowMs ?? systemClock.wallMs },
    // Unless a test is about noticing: it, not a timer, decides when the files are looked at.
    pollMs: options.pollMs ?? 3_600_000,
    debounceMs: options.debounceMs ?? 3_600_000,
  });
  watching.catch(removeFolder);
  const watcher = await watching;
  await watcher.reload(); // the look that every watcher takes right after its start
  const dispose = async () => {
    await watcher[Symbol.asyncDispose]();
    removeFolder();
  };
  return { folder, watcher, lines, write, [Symbol.asyncDispose]: dispose };
}

const aDayMs = 86_400_000;
const cases: {
  name: string;
  write(setup: Setup): void;
  want: ReloadOutcome;
  says?: RegExp;
}[] = [
  { name: "nothing new", write: () => undefined, want: "unchanged" },
  { name: "a new pair of the same CA", write: ({ write }) => write(old.server()), want: "reloaded" },
  {
    name: "a new pair and a new CA",
    write: ({ write }) => write(fresh.server(), fresh.pair.certPem),
    want: "reloaded",
  },
  {
    name: "a bundle of both CAs",
    write: ({ write }) => write({}, old.pair.certPem + fresh.pair.certPem),
    want: "reloaded",
  },
  {
    name: "a certificate without its key",
    write: ({ write }) => write({ certPem: old.server().certPem }),
    want: "kept",
    says: /is not the key of/,
  },
  {
    name: "half a certificate",
    write: ({ write }) => write({ certPem: old.server().certPem.slice(0, 200) }),
    want: "kept",
    says: /holds no certificate/,
  },
  { name: "an empty key", write: ({ write }) => write({ keyPem: "" }), want: "kept", says: /no readable private key/ },
  { name: "an empty CA", write: ({ write }) => write({}, ""), want: "kept", says: /holds no certificate/ },
  {
    name: "a CA that did not issue the pair",
    write: ({ write }) => write({}, fresh.pair.certPem),
    want: "kept",
    says: /no CA in the CA file/,
  },
  {
    name: "an expired pair",
    write: ({ write }) => write(old.server({ nowMs: Date.now() - 9 * aDayMs, notAfterMs: Date.now() - aDayMs })),
    want: "kept",
    says: /expired on/,
  },
  {
    name: "a pair for next week",
    write: ({ write }) => write(old.server({ nowMs: Date.now() + 7 * aDayMs })),
    want: "kept",
    says: /not valid before/,
  },
  {
    name: "a client's pair",
    write: ({ write }) => write(old.client()),
    want: "kept",
    says: /not meant for serverAuth/,
  },
  {
    name: "no certificate file",
    write: ({ folder }) => rmSync(join(folder, "tls.crt")),
    want: "kept",
    says: /cannot be read \(ENOENT\)/,
  },
];
const indented = (pem: string) => pem.replaceAll(/^/gm, "  ");
const part = /holds no certificate, or only a part of one/;
const torn: typeof cases = [
  ...[2, 5, 20, 24, 26, 40].map((bytes) => ({
    name: `a certificate cut by ${bytes} bytes`,
    write: ({ write }: Setup) => write({ ...old.server(), certPem: old.server().certPem.slice(0, -bytes) }),
    want: "kept" as const,
    says: part,
  })),
  ...[2, 5, 20, 24, 26, 40].map((bytes) => ({
    name: `a CA cut by ${bytes} bytes`,
    write: ({ write }: Setup) => write({}, old.pair.certPem.slice(0, -bytes)),
    want: "kept" as const,
    says: part,
  })),
  {
    name: "an indented certificate",
    write: ({ write }) => write({ certPem: indented(old.server().certPem) }),
    want: "kept",
    says: part,
  },
  { name: "an indented CA", write: ({ write }) => write({}, indented(old.pair.certPem)), want: "kept", says: part },
  {
    name: "a CA with CR line ends",
    write: ({ write }) => write({}, old.pair.certPem.replaceAll("\n", "\r")),
    want: "kept",
    says: part,
  },
  {
    name: "two CAs joined without a newline",
    write: ({ write }) => write({}, old.pair.certPem.trimEnd() + fresh.pair.certPem),
    want: "kept",
    says: part,
  },
  {
    name: "a bundle of which the second is torn",
    write: ({ write }) => write({}, old.pair.certPem + fresh.pair.certPem.slice(0, -5)),
    want: "kept",
    says: /certificate that cannot be read, or only a part/,
  },
  {
    name: "a CA file with CRLF and text between",
    write: ({ write }) =>
      write({}, `# ours\n${old.pair.certPem}\n# next\n${fresh.pair.certPem}`.replaceAll("\n", "\r\n")),
    want: "reloaded",
  },
  {
    name: "a key that OpenSSL finds too small",
    write: ({ write }) => write(smallKeyPair()),
    want: "kept",
    says: /key too small/,
  },
];

function smallKeyPair(): CertifiedKey {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const keyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return renewCertificate({ authority: old.pair, certPem: old.server().certPem, keyPem, nowMs: Date.now() });
}

for (const { name, write, want, says } of [...cases, ...torn]) {
  test(`reload with ${name}: ${want}`, async () => {
    await using setup = await setUp();
    const before = setup.watcher.state().material;
    write(setup);
    equal(await setup.watcher.reload(), want);
    const state = setup.watcher.state();
    equal(state.material === before, want !== "reloaded");
    if (says === undefined) equal(state.refused, undefined);
    else match(state.refused?.says ?? "", says);
    equal(state.reloads, want === "reloaded" ? 1 : 0);
    equal(state.failedReloads, want === "kept" ? 1 : 0);
    const said = setup.lines.length;
    equal(await setup.watcher.reload(), want === "reloaded" ? "unchanged" : want, "looking again changes nothing");
    equal(setup.lines.length, said, "and says nothing more");
  });
}

test("a pair that was torn is used once the other half arrives", async () => {
  await using setup = await setUp();
  const next = old.server();
  setup.write({ certPem: next.certPem });
  equal(await setup.watcher.reload(), "kept");
  setup.write({ keyPem: next.keyPem });
  equal(await setup.watcher.reload(), "reloaded");
  equal(setup.watcher.state().refused, undefined);
});

test("new files with no more problems than the ones in use are used", async () => {
  await using setup = await setUp(old.server({ nowMs: Date.now() - 9 * aDayMs, notAfterMs: Date.now() - aDayMs }));
  equal(setup.watcher.state().problems[0]?.code, "TLS_CERTIFICATE_EXPIRED");
  setup.write(old.server({ nowMs: Date.now() - 9 * aDayMs, notAfterMs: Date.now() - 1 }));
  equal(await setup.watcher.reload(), "reloaded");
  setup.write(old.server());
  equal(await setup.watcher.reload(), "reloaded");
  equal(setup.watcher.state().problems.length, 0);
});

test("a certificate that expires while in use becomes a problem, said once", async () => {
  let nowMs = Date.now();
  await using setup = await setUp(old.server({ notAfterMs: nowMs + 5_000 }), { nowMs: () => nowMs });
  equal(setup.watcher.state().problems.length, 0);
  nowMs += 6_000;
  await setup.watcher.reload();
  await setup.watcher.reload();
  equal(setup.watcher.state().problems[0]?.code, "TLS_CERTIFICATE_EXPIRED");
  equal(setup.lines.length, 1);
});

test("files that cannot be used at the start stop it", async () => {
  await rejects(setUp({ certPem: old.server().certPem, keyPem: old.server().keyPem }), { code: "TLS_KEY_MISMATCH" });
});

async function nextChange(watcher: TlsFilesWatcher): Promise<string> {
  for await (const material of watcher.changes()) return material.certificate.serial;
  return "none";
}

for (const seen of ["by watching", "by polling"] as const) {
  const options = seen === "by polling" ? { pollMs: 20 } : { debounceMs: 20 };

  test(`files replaced by rename are noticed ${seen}`, async () => {
    await using setup = await setUp(old.server(), options);
    const next = old.server();
    for (const [name, text] of [
      ["tls.crt", next.certPem],
      ["tls.key", next.keyPem],
    ] as const) {
      writeFileSync(join(setup.folder, `${name}.new`), text);
      renameSync(join(setup.folder, `${name}.new`), join(setup.folder, name));
    }
    await nextChange(setup.watcher);
    equal(setup.watcher.state().material.cert, next.certPem);
  });

  test(`a Secret's swapped ..data link is noticed ${seen}, ten times over`, async () => {
    const folder = mkdtempSync(join(tmpdir(), "cattail-secret-"));
    const publish = (version: number, pair: CertifiedKey) => {
      mkdirSync(join(folder, `..v${version}`));
      writeFileSync(join(folder, `..v${version}`, "tls.crt"), pair.certPem);
      writeFileSync(join(folder, `..v${version}`, "tls.key"), pair.keyPem);
      writeFileSync(join(folder, `..v${version}`, "ca.crt"), old.pair.certPem);
      symlinkSync(`..v${version}`, join(folder, "..data_tmp"));
      renameSync(join(folder, "..data_tmp"), join(folder, "..data"));
      rmSync(join(folder, `..v${version - 1}`), { recursive: true, force: true });
    };
    publish(1, old.server());
    for (const name of ["tls.crt", "tls.key", "ca.crt"]) symlinkSync(join("..data", name), join(folder, name));
    const files = {
      certFile: join(folder, "tls.crt"),
      keyFile: join(folder, "tls.key"),
      caFile: join(folder, "ca.crt"),
    };
    const watcher = await watchTlsFiles(files, {
      role: "server",
      log: silentLog,
      clock: systemClock,
      pollMs: 3_600_000,
      debounceMs: 3_600_000,
      ...options,
    });
    try {
      for (let version = 2; version <= 11; version++) {
        const pair = old.server();
        publish(version, pair);
        await nextChange(watcher);
        equal(watcher.state().material.cert, pair.certPem);
      }
      // A look that meets the swap half-way keeps what it has, and the next one mends it: how many do is the machine's affair.
      equal(watcher.state().refused, undefined);
    } finally {
      await watcher[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

test("the loop over changes ends when the watcher is closed", async () => {
  const setup = await setUp();
  const loop = nextChange(setup.watcher);
  await setup[Symbol.asyncDispose]();
  equal(await loop, "none");
});

test("a CA file without a root is a problem for a server, not for a client", () => {
  const material = {
    ...old.serverMaterial(),
    ca: old.server().certPem,
    authorities: [old.serverMaterial().certificate],
  };
  const codes = (role: "server" | "client") =>
    tlsProblems(material, { nowMs: Date.now(), role }).map(({ code }) => code);
  ok(codes("server").includes("TLS_CA_NO_ROOT"));
  ok(!codes("client").includes("TLS_CA_NO_ROOT"));
});

test("at the start a CA file is used as far as it can be read, with a word about the rest", () => {
  const [server, garbage] = [old.server(), old.pair.certPem.replace(/\n./, "\nA")];
  for (const ca of [garbage + old.pair.certPem, old.pair.certPem + fresh.pair.certPem.slice(0, -5)]) {
    const material = parseTlsMaterial({ cert: server.certPem, key: server.keyPem, ca });
    equal(material.ca, old.pair.certPem);
    equal(material.unreadableAuthorities, 1);
  }
});

test("without a CA file a pair is watched, and nothing is said about it", async () => {
  using files = certificateFolder(old);
  const { log, lines } = recordLog();
  const watched = { ...files.server, caFile: "" };
  await using watcher = await watchTlsFiles(watched, { role: "server", log, clock: systemClock, debounceMs: 1 });
  await watcher.reload();
  equal(watcher.state().refused, undefined);
  equal(lines.length, 0);
});
