// A fixed share of a suite that takes minutes: npm test runs every fourth case (or fewer), what it leaves out runs with the walks.
// tools/parts-of-tests.ts lists the files that use this; a file that is run by its name runs whole.

/** Which cases this run is for; tools/run-tests.ts says so. */
export function shareOf<T>(cases: readonly T[], part = process.env.CATTAIL_TEST_PART, every = 4): T[] {
  if (part !== "usual" && part !== "rest") return [...cases];
  return cases.filter((_, index) => (index % every === 0) === (part === "usual"));
}
