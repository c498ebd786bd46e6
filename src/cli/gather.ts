// For options that may be given several times: commander hands over one value after the other.
export function gather(value: string, before: string[] = []): string[] {
  return [...before, value];
}
