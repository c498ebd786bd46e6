// Servers of one cluster held against each other: the same keys, at the same revisions, with the same values? And how
// far one is behind the first to say something.
import { type Finding, passed, problem } from "../finding.ts";
import type { KeyState, ServerView } from "./server-view.ts";

export type Lag = { readonly changes: number; readonly medianMs: number; readonly mostMs: number };

/** A change this fresh may be on its way to the others. */
const freshMs = 1000;

export function compareServers(views: readonly ServerView[], nowMs: number): Finding[] {
  const [first, ...others] = views;
  if (first === undefined || others.length === 0) return [];
  const findings = others.flatMap((other) => compareTwo(first, other, nowMs));
  const versions = new Set(views.map(({ hello }) => hello?.version ?? ""));
  if (versions.size > 1) {
    const list = views.map(({ address, hello }) => `${address} has ${hello?.version}`).join(", ");
    findings.push(problem("SERVERS_DIFFER_VERSIONS", list));
  }
  if (findings.length > 0) return findings;
  return [passed(`${views.length} servers have the same ${first.keys.size} keys at the same revisions`)];
}

function compareTwo(one: ServerView, other: ServerView, nowMs: number): Finding[] {
  const lacking = (from: ServerView, to: ServerView) =>
    settledKeys(from, nowMs).filter(([path, state]) => state.value !== undefined && !has(to, path, nowMs));
  const onlyOne = lacking(one, other).map(([path]) => path);
  const onlyOther = lacking(other, one).map(([path]) => path);
  const both = settledKeys(one, nowMs).flatMap(([path, mine]) => {
    const theirs = other.states.get(path);
    const isComparable = theirs !== undefined && isSettled(theirs, nowMs) && theirs.value !== undefined;
    return isComparable && mine.value !== undefined ? [{ path, mine, theirs }] : [];
  });
  const revisions = both.filter(({ mine, theirs }) => mine.revision !== theirs.revision);
  const values = both.filter(({ mine, theirs }) => mine.revision === theirs.revision && mine.value !== theirs.value);
  const pair = `${one.address} and ${other.address}`;
  return [
    ...(onlyOne.length > 0 ? [problem("SERVERS_DIFFER_KEYS", `${other.address} lacks ${some(onlyOne)}`)] : []),
    ...(onlyOther.length > 0 ? [problem("SERVERS_DIFFER_KEYS", `${one.address} lacks ${some(onlyOther)}`)] : []),
    ...(revisions.length > 0
      ? [problem("SERVERS_DIFFER_REVISIONS", `${pair}: ${some(revisions.map(({ path }) => path))}`)]
      : []),
    ...(values.length > 0
      ? [problem("SERVERS_DIFFER_VALUES", `${pair}: ${some(values.map(({ path }) => path))}`)]
      : []),
  ];
}

function settledKeys(view: ServerView, nowMs: number): [string, KeyState][] {
  return [...view.states].filter(([, state]) => isSettled(state, nowMs));
}

function isSettled({ atMs }: KeyState, nowMs: number): boolean {
  return nowMs - atMs >= freshMs;
}

/** A key that was deleted a moment ago is not missing. */
function has(view: ServerView, path: string, nowMs: number): boolean {
  const state = view.states.get(path);
  return state !== undefined && (state.value !== undefined || !isSettled(state, nowMs));
}

function some(paths: readonly string[]): string {
  const shown = paths.slice(0, 3).join(", ");
  return paths.length > 3 ? `${paths.length} keys, among them ${shown}` : shown;
}

/** How much later each server said what several of them said. */
export function lagsOf(views: readonly ServerView[]): Map<ServerView, Lag> {
  const lags = new Map<ServerView, Lag>();
  for (const view of views) {
    const behind: number[] = [];
    for (const [change, atMs] of view.changes) {
      const times = views.flatMap(({ changes }) => changes.get(change) ?? []);
      if (times.length > 1) behind.push(atMs - Math.min(...times));
    }
    if (behind.length === 0) continue;
    behind.sort((a, b) => a - b);
    const medianMs = behind[behind.length >> 1] ?? 0;
    lags.set(view, { changes: behind.length, medianMs, mostMs: behind.at(-1) ?? 0 });
  }
  return lags;
}
