import { HttpProblem } from './problem';

export type FaultPlace = 'body' | 'query' | 'path' | 'header';

/** One thing wrong with a request. It says what is allowed and the type of what was found, never the value. */
export interface Fault {
  readonly in: FaultPlace;
  /** RFC 6901, within the body, or `/<name>` of a parameter. */
  readonly pointer: string;
  readonly detail: string;
  /** JSON type of the value, or `nothing`. */
  readonly found?: string;
}

/** A hostile body can hold a fault in every byte; the answer stays small. */
const MAX_LISTED_FAULTS = 200;
const MAX_LISTED_CHARACTERS = 65_536;

/** 422 as soon as the body is at fault, 400 when only parameters are. */
export function faultsProblem(faults: readonly Fault[]): HttpProblem {
  const listed = listable(faults);
  const omitted = faults.length - listed.length;
  return new HttpProblem(faults.some((fault) => fault.in === 'body') ? 'validation' : 'invalid-parameters', {
    detail: omitted === 0 ? summary(faults.length) : `${summary(faults.length)}; ${omitted} are not listed`,
    extensions: { errors: listed },
  });
}

function summary(count: number): string {
  return count === 1 ? '1 fault' : `${count} faults`;
}

export function listable(faults: readonly Fault[]): Fault[] {
  let characters = 0;
  const listed: Fault[] = [];
  for (const fault of faults.slice(0, MAX_LISTED_FAULTS)) {
    characters += fault.pointer.length + fault.detail.length;
    if (characters > MAX_LISTED_CHARACTERS && listed.length > 0) break;
    listed.push(fault);
  }
  return listed;
}
