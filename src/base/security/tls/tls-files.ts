// Keeps the TLS files' newest usable content at hand while they are replaced under us: by rename, by a swap of the
// symlink that Kubernetes puts before a Secret's files, or in place. New files are used only when they are no worse than
// the ones in use; a torn or mismatched pair is reported and the last good one stays.
//
//   watchFolder() ────────────┐ (after a short quiet time)
//   every pollMs ─────────────┼──> LastGood: read, parse, judge ──> changes() / state()
//   reload() (SIGHUP) ────────┘
import { realpath } from "node:fs/promises";
import { dirname } from "node:path";
import { CattailError, type Clock, LastGood, type Log, type ReloadOutcome } from "../../lib/index.ts";
import { watchFolder } from "../../linux/files.ts";
import {
  loadTlsMaterial,
  type TlsFiles,
  type TlsMaterial,
  type TlsProblem,
  type TlsRole,
  tlsProblems,
} from "./tls-material.ts";

/** The files themselves are read more often: this is for watches that were lost. */
const rescanMs = 60_000;

export type TlsFilesState = {
  readonly material: TlsMaterial;
  /** What is wrong with the material in use, as of the last check. */
  readonly problems: readonly TlsProblem[];
  /** Why what the files hold now is not in use. */
  readonly refused: { readonly code: string; readonly says: string; readonly sinceMs: number } | undefined;
  readonly reloads: number;
  readonly failedReloads: number;
};

export type TlsFilesWatcher = AsyncDisposable & {
  state(): TlsFilesState;
  /** Looks at the files now. */
  reload(): Promise<ReloadOutcome>;
  /** Each new material after the first. One consumer; one that is late sees only the newest. */
  changes(): AsyncIterable<TlsMaterial>;
};

/** Throws when the files cannot be used at all; a certificate that has expired can, and is a problem in state(). */
export async function watchTlsFiles(
  files: TlsFiles,
  options: {
    role: TlsRole;
    log: Log;
    clock: Clock;
    signal?: AbortSignal;
    pollMs?: number;
    debounceMs?: number;
  },
): Promise<TlsFilesWatcher> {
  const { role, log, clock } = options;
  const material = await loadTlsMaterial(files);
  const problems = tlsProblems(material, { nowMs: clock.wallMs(), role });
  for (const problem of problems) log.error("TLS files have a problem", { code: problem.code, problem: problem.says });
  if (material.unreadableAuthorities > 0) log.warn("A part of the CA file is not used", { problem: unreadable(files) });
  return new Watcher(files, { material, problems, refused: undefined, reloads: 0, failedReloads: 0 }, options);
}

class Watcher implements TlsFilesWatcher {
  readonly #files: TlsFiles;
  readonly #options: Parameters<typeof watchTlsFiles>[1];
  readonly #stop = new AbortController();
  readonly #signal: AbortSignal;
  readonly #looking: Promise<unknown>;
  readonly #source: LastGood<TlsMaterial>;
  #state: TlsFilesState;
  #refusedFingerprint = "";
  #checking: Promise<unknown> = Promise.resolve();

  constructor(files: TlsFiles, state: TlsFilesState, options: Parameters<typeof watchTlsFiles>[1]) {
    this.#files = files;
    this.#state = state;
    this.#options = options;
    this.#signal =
      options.signal === undefined ? this.#stop.signal : AbortSignal.any([options.signal, this.#stop.signal]);
    this.#source = new LastGood({
      clock: options.clock,
      maxAgeMs: Number.POSITIVE_INFINITY, // it is looked at when there is a reason to
      first: state.material,
      read: () => loadTlsMaterial(files),
      judge: (next, inUse) => this.#judge(next, inUse),
      onReloaded: (material) => this.#reloaded(material),
      onKept: (error) => this.#kept(error),
    });
    this.#looking = Promise.all([this.#watch(), this.#poll()]);
  }

  state(): TlsFilesState {
    return this.#state;
  }

  reload(): Promise<ReloadOutcome> {
    const next = this.#checking.then(() => this.#check());
    this.#checking = next;
    return next;
  }

  changes(): AsyncIterable<TlsMaterial> {
    return this.#source.changes(this.#signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort(new Error("the TLS file watcher was closed"));
    await this.#looking;
    await this.#checking;
  }

  // Begins with a look once the folders are watched: what was replaced since the first load raised no notice. Where the
  // files lie may change with them; then other folders are watched.
  async #watch(): Promise<void> {
    const { clock, log, debounceMs = 100 } = this.#options;
    const quiet = { quietMs: debounceMs, mostQuietWaitMs: 10 * debounceMs, rescanMs };
    while (!this.#signal.aborted) {
      const folders = await foldersOf(this.#files);
      for await (const _ of watchFolder(folders, { ...quiet, clock, log, signal: this.#signal })) {
        await this.reload();
        if ((await foldersOf(this.#files)).join() !== folders.join()) break;
      }
    }
  }

  // Certificates expire without any notice.
  async #poll(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        await this.#options.clock.sleep(this.#options.pollMs ?? 5_000, this.#signal);
      } catch {
        return; // stopped
      }
      await this.reload();
    }
  }

  async #check(): Promise<ReloadOutcome> {
    const { clock, role } = this.#options;
    this.#noteProblems(tlsProblems(this.#state.material, { nowMs: clock.wallMs(), role }));
    const outcome = await this.#source.reload();
    if (outcome === "kept") return outcome;
    this.#refusedFingerprint = "";
    if (this.#state.refused !== undefined) this.#state = { ...this.#state, refused: undefined };
    return outcome;
  }

  #reloaded(material: TlsMaterial): void {
    const { clock, log, role } = this.#options;
    const problems = tlsProblems(material, { nowMs: clock.wallMs(), role });
    this.#state = { ...this.#state, material, problems, refused: undefined, reloads: this.#state.reloads + 1 };
    const { commonName, issuer, notAfterMs } = material.certificate;
    log.info("TLS files reloaded", { cn: commonName, issuer, expiry: new Date(notAfterMs).toISOString() });
  }

  /** Throws where the new files are worse than the ones in use. */
  #judge(next: TlsMaterial, inUse: TlsMaterial): "same" | "another" {
    if (next.fingerprint === inUse.fingerprint) return "same";
    const { clock, role } = this.#options;
    const problems = tlsProblems(next, { nowMs: clock.wallMs(), role });
    const worse = problems.find(({ code }) => this.#state.problems.every((known) => known.code !== code));
    if (worse !== undefined) throw new Worse(worse, next.fingerprint);
    // A bundle that is being written: nodes of the CA that is missing would be refused.
    if (next.unreadableAuthorities > inUse.unreadableAuthorities) {
      throw new Worse({ code: "TLS_CERTIFICATE_INVALID", says: unreadable(this.#files) }, next.fingerprint);
    }
    return "another";
  }

  // Said and counted once for each new content, however often it is looked at.
  #kept(error: unknown): void {
    const { code, says, content } = refusalOf(error);
    if (`${code} ${content}` === this.#refusedFingerprint) return;
    this.#refusedFingerprint = `${code} ${content}`;
    const refused = { code, says, sinceMs: this.#options.clock.wallMs() };
    this.#state = { ...this.#state, refused, failedReloads: this.#state.failedReloads + 1 };
    this.#options.log.error("New TLS files not used, keeping the last good ones", { code, problem: says });
  }

  #noteProblems(problems: TlsProblem[]): void {
    for (const { code, says } of problems) {
      if (this.#state.problems.some((known) => known.code === code)) continue;
      this.#options.log.error("TLS files have a problem", { code, problem: says });
    }
    this.#state = { ...this.#state, problems };
  }
}

/** The files can be read, and are not as good as those in use. */
class Worse extends Error {
  readonly problem: { readonly code: string; readonly says: string };
  readonly fingerprint: string;

  constructor(problem: { readonly code: string; readonly says: string }, fingerprint: string) {
    super(problem.says);
    this.problem = problem;
    this.fingerprint = fingerprint;
  }
}

/** Why files are not used, and what tells their content from other content. */
function refusalOf(error: unknown): { code: string; says: string; content: string } {
  if (error instanceof Worse) return { ...error.problem, content: error.fingerprint };
  const { code, problem } = error instanceof CattailError ? error : { code: "TLS_FILES", problem: String(error) };
  return { code, says: problem, content: problem };
}

/**
 * Both the folder a file is named in and the one it really lies in: a Secret's file changes by a rename in the first, a
 * link to a folder elsewhere by a write in the second. Where watching fails, polling still works.
 */
async function foldersOf({ certFile, keyFile, caFile }: TlsFiles): Promise<string[]> {
  const folders = new Set<string>();
  for (const file of [certFile, keyFile, caFile]) {
    if (file === "") continue; // no CA file
    folders.add(dirname(file));
    const real = await realpath(file).catch(() => undefined);
    if (real !== undefined) folders.add(dirname(real));
  }
  return [...folders].sort();
}

function unreadable({ caFile }: TlsFiles): string {
  return `${caFile} holds a certificate that cannot be read, or only a part of one`;
}
