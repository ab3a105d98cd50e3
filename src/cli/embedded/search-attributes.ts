import type { Connection } from '@temporalio/client';

import { StartError } from './start-error';

/** The numbers are Temporal's `IndexedValueType`. */
const INDEXED_VALUE_TYPES = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
  Bool: 5,
  Datetime: 6,
  KeywordList: 7,
} as const;

export interface SearchAttribute {
  readonly name: string;
  readonly type: keyof typeof INDEXED_VALUE_TYPES;
}

/** The flags of `temporal server start-dev`, which take effect only when the database is new. */
export function searchAttributeFlags(attributes: readonly SearchAttribute[]): string[] {
  return attributes.flatMap(({ name, type }) => ['--search-attribute', `${name}=${type}`]);
}

/** Adds to an existing database the attributes which a newer Portcullis has introduced. */
export async function ensureSearchAttributes(
  connection: Connection,
  namespace: string,
  attributes: readonly SearchAttribute[],
): Promise<void> {
  if (attributes.length === 0) return;
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const known = new Map<string, number>(Object.entries(customAttributes));

  const different = attributes.find(
    ({ name, type }) => known.has(name) && known.get(name) !== INDEXED_VALUE_TYPES[type],
  );
  if (different)
    throw new StartError(
      'data_folder_version',
      `The database has the search attribute ${different.name} with another type than ${different.type}. ` +
        `Choose another folder with PORTCULLIS_DATA.`,
    );

  const missing = attributes.filter(({ name }) => !known.has(name));
  if (missing.length === 0) return;
  await connection.operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(missing.map(({ name, type }) => [name, INDEXED_VALUE_TYPES[type]])),
  });
}
