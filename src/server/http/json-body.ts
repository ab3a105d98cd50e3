import { findUnfaithful as findUnfaithfulValue, type UnfaithfulValue } from '../../domain/json-value';
import { listable, type Fault } from './fault';
import { duplicateMembers } from './json-scan';
import { JsonSyntaxFault } from './json-tokens';
import { HttpProblem } from './problem';

type FindUnfaithful = (value: unknown) => UnfaithfulValue | undefined;

/**
 * The one JSON value that the bytes are. Members named `__proto__` or `constructor` come out as own properties.
 * @throws HttpProblem malformed-body, unfaithful-json
 */
export function parseJson(bytes: Uint8Array, findUnfaithful: FindUnfaithful = findUnfaithfulValue): unknown {
  const text = decodeUtf8(bytes);
  const duplicates = scan(text);
  const value: unknown = JSON.parse(text);
  const unfaithful = findUnfaithful(value);
  const faults = [
    ...duplicates.map((pointer) => fault(pointer, 'the member name is repeated in its object')),
    ...(unfaithful === undefined ? [] : [fault(unfaithful.pointer, unfaithful.problem)]),
  ];
  if (faults.length > 0)
    throw new HttpProblem('unfaithful-json', { extensions: { errors: listable(faults) } });
  return value;
}

/** Pointers of repeated members are made well-formed, because the answer has to be UTF-8. */
function fault(pointer: string, detail: string): Fault {
  return { in: 'body', pointer: pointer.toWellFormed(), detail };
}

function decodeUtf8(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new HttpProblem('malformed-body', { detail: 'the body is not UTF-8', cause });
  }
}

function scan(text: string): string[] {
  try {
    return duplicateMembers(text);
  } catch (error) {
    if (!(error instanceof JsonSyntaxFault)) throw error;
    const { position, expected } = error;
    throw new HttpProblem('malformed-body', {
      detail: `the body is not one JSON value: expected ${expected} at position ${position}`,
      extensions: { position },
    });
  }
}
