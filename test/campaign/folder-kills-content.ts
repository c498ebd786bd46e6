// What the writers of folder-kills write: content of which every part follows from its number, so that a mixture of two writes is seen.

export function specOf(number: number): { order: number; text: string; list: string[] } {
  return { order: number, text: `${number} `.repeat(number % 200), list: [`first ${number}`, `last ${number}`] };
}

export function isWhole(spec: unknown): boolean {
  const { order } = Object(spec);
  return typeof order === "number" && JSON.stringify(spec) === JSON.stringify(specOf(order));
}
