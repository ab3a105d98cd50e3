import { z } from 'zod';
import {
  findUnfaithful,
  jsonBytes,
  MAX_JSON_BYTES,
  MAX_JSON_DEPTH,
  type JsonValue,
} from '../../domain/json-value';

/** Any JSON value that is kept; the body reader has refused what cannot be kept faithfully. */
export const jsonValue = z
  .custom<JsonValue>((value) => value !== undefined, 'a JSON value')
  .refine((value) => findUnfaithful(value) === undefined, {
    error: `the value is nested deeper than ${MAX_JSON_DEPTH} levels`,
    abort: true,
  })
  .refine((value) => jsonBytes(value) <= MAX_JSON_BYTES, {
    error: `the value is larger than ${MAX_JSON_BYTES} bytes of JSON`,
  })
  .meta({ type: ['object', 'array', 'string', 'number', 'boolean', 'null'] });

/** Bodies that carry a value may be larger than the value, so that one that is too large is told apart. */
export const VALUE_BODY_LIMIT = MAX_JSON_BYTES + 65_536;
