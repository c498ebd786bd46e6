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
};

export type FigureStep = {
  readonly name: string;
  readonly says: string;
  /** What is run, with Node, one after the other; `env` goes to all of them. */
  readonly long: readonly string[];
  readonly short: readonly string[];
  readonly env?: { readonly [name: string]: string };
  /** The words by which the original's program is measured beside ours; none where it is not there. */
  readonly against?: (originals: Originals) => readonly string[];
  /** What it takes on two cores, and when to give up on it. */
  readonly aboutMinutes: number;
  readonly atMostMinutes: number;
};
