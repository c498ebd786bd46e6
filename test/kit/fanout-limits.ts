// The limits of a server that nobody has told anything, for tests of its parts.
import { limitsWith } from "../../src/typha/server/connections/server-limits.ts";

export const defaultLimits = limitsWith();
