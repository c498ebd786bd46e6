// Loaded before a test file when CATTAIL_SEED is set: every property begins with that seed, so that a failure comes back.
import fc from "fast-check";

fc.configureGlobal({ seed: Number(process.env.CATTAIL_SEED) });
