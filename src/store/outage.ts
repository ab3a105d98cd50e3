import {
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  ErrorReply,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
} from 'redis';
import { StoreTimeout } from './bounded-commands';

const CONNECTION_LOST = [
  ClientClosedError,
  ClientOfflineError,
  ConnectionTimeoutError,
  DisconnectsClientError,
  SocketClosedUnexpectedlyError,
  SocketTimeoutError,
  StoreTimeout,
];

/** What a server says that is up and cannot serve now. */
const NOT_NOW = /^(LOADING|MASTERDOWN|MISCONF|NOREPLICAS|OOM|READONLY|BUSY|CLUSTERDOWN|TRYAGAIN)\b/;

/** Whether the tenant's store is away or takes no writes for now; such a request may be repeated. */
export function isStoreOutage(error: unknown): boolean {
  if (error instanceof ErrorReply) return NOT_NOW.test(error.message);
  return CONNECTION_LOST.some((kind) => error instanceof kind);
}
