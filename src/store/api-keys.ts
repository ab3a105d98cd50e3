import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Scope } from '../domain/principal';
import type { RedisConnection } from './connection';
import type { Keyspace } from './keyspace';
import { pageByName, type Page, type PageRequest } from './page';

export interface ApiKey {
  readonly id: string;
  readonly tenant: string;
  readonly owner: string;
  readonly scopes: readonly Scope[];
  /** Profiles beyond which everything is unknown to this key; absent: all. */
  readonly profileIds?: readonly string[];
  readonly createdAt: string;
}

interface StoredKey extends ApiKey {
  readonly secretSha256: string;
}

/** `pk_<tenant>_<id>_<secret>`; neither tenant nor id holds `_`. */
const TOKEN = /^pk_([a-z0-9-]{1,40})_([a-z0-9]{16})_([A-Za-z0-9]{43})$/;

/** The tenant that a token says it belongs to, before anything about it has been checked. */
export function claimedTenant(token: string): string | undefined {
  return TOKEN.exec(token)?.[1];
}

export class ApiKeys {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keyspace: Keyspace,
  ) {}

  /** Makes a key. The token is told once, here; only its hash is stored. */
  async create(wanted: Omit<ApiKey, 'id' | 'tenant'>): Promise<{ key: ApiKey; token: string }> {
    const id = randomBytes(8).toString('hex');
    const secret = randomSecret();
    const key: ApiKey = { id, tenant: this.keyspace.tenant, ...wanted };
    const stored: StoredKey = { ...key, secretSha256: sha256(secret).toString('hex') };
    await this.redis
      .multi()
      .hSet(this.keyspace.apiKey(id), 'json', JSON.stringify(stored))
      .zAdd(this.keyspace.apiKeys, { score: 0, value: id })
      .exec();
    return { key, token: `pk_${key.tenant}_${id}_${secret}` };
  }

  /** The key behind a token, compared in constant time; unknown, revoked and wrong are all the same `undefined`. */
  async verify(token: string): Promise<ApiKey | undefined> {
    const [, tenant, id, secret] = TOKEN.exec(token) ?? [];
    if (tenant !== this.keyspace.tenant || id === undefined || secret === undefined) return undefined;
    const stored = await this.readStored(id);
    const expected = Buffer.from(stored?.secretSha256 ?? '0'.repeat(64), 'hex');
    const matches = timingSafeEqual(sha256(secret), expected);
    return matches && stored !== undefined ? withoutSecret(stored) : undefined;
  }

  async read(id: string): Promise<ApiKey | undefined> {
    const stored = await this.readStored(id);
    return stored === undefined ? undefined : withoutSecret(stored);
  }

  list(page: PageRequest): Promise<Page<string>> {
    return pageByName(this.redis, this.keyspace.apiKeys, page);
  }

  /** Revokes a key at once; false when there was none. */
  async delete(id: string): Promise<boolean> {
    const { keyspace } = this;
    const [removed] = await this.redis.multi().del(keyspace.apiKey(id)).zRem(keyspace.apiKeys, id).exec();
    return Number(removed) === 1;
  }

  private async readStored(id: string): Promise<StoredKey | undefined> {
    const json = await this.redis.hGet(this.keyspace.apiKey(id), 'json');
    return json === null ? undefined : (JSON.parse(json) as StoredKey);
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** 43 letters and digits: 256 bits, without the characters that separate a token's parts. */
function randomSecret(): string {
  let secret = '';
  while (secret.length < 43) {
    for (const byte of randomBytes(64)) {
      // Bytes past the largest multiple of 62 are skipped, so that every character is equally likely.
      if (byte < 248 && secret.length < 43) secret += ALPHABET.charAt(byte % 62);
    }
  }
  return secret;
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function withoutSecret({ secretSha256: _, ...key }: StoredKey): ApiKey {
  return key;
}
