// What was thrown, in words. Anything can be thrown, and JavaScript's own errors say their class in String().
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
