// ctl datastore migrate unlock: the datastore may be used again.
import type { Run } from "../command.ts";
import { setReady } from "./readiness.ts";

export const run: Run = async (invocation, console) => {
  const { resources } = await invocation.connect();
  await setReady(resources, true, { signal: console.signal, purpose: "unlocking" });
  console.out("Datastore unlocked.\n");
  return 0;
};
