import type { RequestListener } from 'node:http';
import { setMaxListeners } from 'node:events';

const closing = new WeakMap<RequestListener, AbortController>();

/** The controller that is aborted when the server of this app begins to close. */
export function closingOf(app: RequestListener): AbortController {
  const known = closing.get(app);
  if (known !== undefined) return known;
  const controller = new AbortController();
  // Every open request may listen.
  setMaxListeners(0, controller.signal);
  closing.set(app, controller);
  return controller;
}
