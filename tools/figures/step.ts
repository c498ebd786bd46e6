// What a step of a sitting is, and which programs of the original it may be given.
/** The original's programs on this machine, where there are any: what ours are measured beside. */
export type Originals = {
  /** A command of calico/typha. */
  readonly typha?: string | undefined;
  /** The combined program: `calico ctl`, `calico component felix`. */
  readonly program?: string | undefined;
  /** The folder with calico and calico-ipam. */
  readonly plugins?: string | undefined;
  /** The folder with confd's conf.d and templates, and the one with bird and bird6 of 1.6. */
  readonly confd?: string | undefined;
  readonly bird?: string | undefined;
  /** A checkout of release 0.1, with its dependencies. */
  readonly release?: string | undefined;
};

export type FigureStep = {
  readonly name: string;
  /** A bench asks how fast it is, a campaign whether it is right: --benches and --campaigns run only those. */
  readonly kind: "bench" | "campaign";
  readonly says: string;
  /** What is run, with Node, one after the other, each also when one before it failed; `env` goes to all of them. A word with a space stands in quotes. */
  readonly long: readonly string[];
  readonly short: readonly string[];
  readonly env?: { readonly [name: string]: string };
  /** The words by which the original's programs are measured beside ours in a command; none where they are not there. */
  readonly against?: (originals: Originals, command: string) => readonly string[];
  /** What it takes on two cores, and when to give up on it. */
  readonly aboutMinutes: number;
  readonly atMostMinutes: number;
};

/** The words of a command. */
export function wordsOf(command: string): string[] {
  return (command.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ""));
}
