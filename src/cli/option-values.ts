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
