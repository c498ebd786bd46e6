// Which BIRD it is: "2.0.12", "1.6.8", or "v0.3.3+birdv1.6.8" for the fork that Calico ships.
import type { BirdLine } from "../control-socket.ts";
import type { Generation } from "../render/render.ts";

export type BirdVersion = {
  readonly text: string;
  readonly generation: Generation;
  /** Calico's fork, which alone can put routes into a tunnel (krt_tunnel). */
  readonly isFork: boolean;
};

/** Undefined: no version of a BIRD that we can write for. */
export function readVersion(text: string): BirdVersion | undefined {
  const isFork = /\+bird/.test(text);
  const [, major] = /(?:^|bird)v?(\d+)\.\d+/.exec(isFork ? text.slice(text.indexOf("+bird") + 1) : text.trim()) ?? [];
  if (major === "1") return { text: text.trim(), generation: 1, isFork };
  return major === "2" || major === "3" ? { text: text.trim(), generation: 2, isFork } : undefined;
}

/** Of what `bird --version` prints: "BIRD version 2.0.12". */
export function versionPrinted(output: string): BirdVersion | undefined {
  const [, text] = /BIRD version (\S+)/.exec(output) ?? [];
  return text === undefined ? undefined : readVersion(text);
}

/** Of the answer to "show status": "1000-BIRD 2.0.12". */
export function versionAnswered(lines: readonly BirdLine[]): BirdVersion | undefined {
  const [, text] = /^BIRD (\S+)/.exec(lines.find(({ code }) => code === 1000)?.text ?? "") ?? [];
  return text === undefined ? undefined : readVersion(text);
}
