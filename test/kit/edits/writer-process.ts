// A process of the campaign of edits: several writers on one datastore of its own.
import { silentLog, systemClock } from "../../../src/base/lib/index.ts";
import { type DatastoreOptions, openDatastore } from "../../../src/calico/datastore/index.ts";
import { countEdits, type EditsPlan } from "./count-edits.ts";

const [text = ""] = process.argv.slice(2);
const { datastore: options, plans } = JSON.parse(text) as { datastore: DatastoreOptions; plans: EditsPlan[] }; // written by edit-worlds.ts
await using datastore = await openDatastore(options, { clock: systemClock, log: silentLog });
const results = await Promise.all(plans.map((plan) => countEdits(datastore, plan)));
process.stdout.write(JSON.stringify(results));
