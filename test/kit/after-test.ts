// What a test leaves to be cleaned up, in the order that is safe: the last first. Hooks of the runner are called the first
// first, so that a folder would be removed under the datastore that is still open in it; and one that fails keeps the
// others from being called, so that the process would never end.
import type { TestContext } from "node:test";

const stacks = new WeakMap<TestContext, AsyncDisposableStack>();

export function afterTest(t: TestContext): AsyncDisposableStack {
  const known = stacks.get(t);
  if (known !== undefined) return known;
  const stack = new AsyncDisposableStack();
  stacks.set(t, stack);
  t.after(() => stack.disposeAsync());
  return stack;
}
