/** A long-poll ends when its client goes and when the server shuts down. */
export function endOf({ signal, closing }: { signal: AbortSignal; closing: AbortSignal }): AbortSignal {
  return AbortSignal.any([signal, closing]);
}
