// The way back of model's parseJson(): numbers beyond 2^53, which it reads as bigint, are written as the same digits.

// TypeScript's library does not know rawJSON yet; Node has had it since 21.
const { rawJSON } = JSON as typeof JSON & { rawJSON: (text: string) => unknown };

export function writeJson(value: unknown): string {
  return JSON.stringify(value, (_name, field) => (typeof field === "bigint" ? rawJSON(String(field)) : field));
}
