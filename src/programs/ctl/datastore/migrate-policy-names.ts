// ctl datastore migrate-policy-names: policies stored under "default." and their name are stored under their name.
import { migratePolicyNames } from "../../../calico/resources/index.ts";
import type { Run } from "../command.ts";

export const run: Run = async (invocation, console) => {
  const { datastore } = await invocation.connect();
  const { migrated, unreadable } = await migratePolicyNames(datastore, { signal: console.signal });
  for (const { object, problem } of unreadable) console.err(`${object} is left as it is: ${problem}\n`);
  console.out(`Policy name migration complete, migrated ${migrated} policies.\n`);
  return 0;
};
