import {
  findUnfaithful as findUnfaithfulIn,
  MAX_JSON_DEPTH,
  type UnfaithfulValue,
} from '../../domain/json-value';
import { parseStrictJson } from '../../domain/strict-json';
import { listable, type Fault } from './fault';
import { HttpProblem } from './problem';

/** Levels around a value in the body that carries it; the value itself is held to its own limit by the route. */
const ENVELOPE_LEVELS = 4;

type FindUnfaithful = (value: unknown) => UnfaithfulValue | undefined;

const findUnfaithfulBody: FindUnfaithful = (value) =>
  findUnfaithfulIn(value, MAX_JSON_DEPTH + ENVELOPE_LEVELS);

/**
 * The one JSON value that the bytes are. Members named `__proto__` or `constructor` come out as own properties.
 * @throws HttpProblem malformed-body, unfaithful-json
 */
export function parseJson(bytes: Uint8Array, findUnfaithful: FindUnfaithful = findUnfaithfulBody): unknown {
  const parsed = parseStrictJson(bytes);
  if (parsed.kind === 'not_utf8')
    throw new HttpProblem('malformed-body', { detail: 'the body is not UTF-8' });
  if (parsed.kind === 'not_json') {
    const { position, expected } = parsed;
    throw new HttpProblem('malformed-body', {
      detail: `the body is not one JSON value: expected ${expected} at position ${position}`,
      extensions: { position },
    });
  }
  const unfaithful = findUnfaithful(parsed.value);
  const faults = [
    ...parsed.duplicates.map((pointer) => fault(pointer, 'the member name is repeated in its object')),
    ...(unfaithful === undefined ? [] : [fault(unfaithful.pointer, unfaithful.problem)]),
  ];
  if (faults.length > 0)
    throw new HttpProblem('unfaithful-json', { extensions: { errors: listable(faults) } });
  return parsed.value;
}

/** Pointers of repeated members are made well-formed, because the answer has to be UTF-8. */
function fault(pointer: string, detail: string): Fault {
  return { in: 'body', pointer: pointer.toWellFormed(), detail };
}
