// How commander's options are read that are more than a word: several of one kind, and numbers within bounds.
import { InvalidArgumentError } from "commander";

/** For options that may be given several times: commander hands over one value after the other. */
export function gather(value: string, before: string[] = []): string[] {
  return [...before, value];
}

export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,6}$/.test(text) || value < least || value > most) {
      throw new InvalidArgumentError(`It has to be a whole number from ${least} to ${most}.`);
    }
    return value;
  };
}

export const port = wholeNumber(1, 65_535);

/** A name as Kubernetes takes it: what it would refuse at the apply is refused here. */
export const namespaceName = nameOf(/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/, 63, "lower-case letters, digits and dashes");
/** A Service's name starts with a letter, and all that belongs to an installation is called like its Service. */
export const serviceName = nameOf(
  /^[a-z]([-a-z0-9]*[a-z0-9])?$/,
  63,
  "lower-case letters, digits and dashes, from a letter on",
);
export const objectName = nameOf(
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  253,
  "lower-case letters, digits, dashes and dots",
);

function nameOf(pattern: RegExp, most: number, letters: string): (text: string) => string {
  return (text) => {
    if (text.length <= most && pattern.test(text)) return text;
    throw new InvalidArgumentError(`It has to be a name of at most ${most} ${letters}, ending in a letter or digit.`);
  };
}
