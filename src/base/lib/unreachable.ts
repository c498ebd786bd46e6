// Ends a switch over a discriminated union: a case that was forgotten fails to compile, and a value that slipped past
// the types fails loudly.
export function unreachable(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
