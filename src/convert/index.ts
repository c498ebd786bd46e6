// Resources to key/values, and validation: pure functions, one file per kind.
export {
  absent,
  type Converted,
  type ConvertedKv,
  deletion,
  invalid,
  type Problem,
  type Warning,
} from "./converted.ts";
export { nothing, objectName, type Processor, type ProcessorId, type ProcessorOutput } from "./processor.ts";
