// The one place where a FieldError, thrown by a reader deep inside an object, becomes a value again.
import { FieldError } from "../../model/index.ts";

export function attempt<T>(convert: () => T): T | FieldError {
  try {
    return convert();
  } catch (error) {
    if (error instanceof FieldError) return error;
    throw error;
  }
}
