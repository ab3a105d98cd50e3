/**
 * Whether an Accept header asks for `text/event-stream` (RFC 9110 §12.5.1): it names that type, and does not prefer
 * JSON to it. A wildcard asks for JSON.
 */
export function acceptsEventStream(accept: string | undefined): boolean {
  const qualities = new Map((accept ?? '').split(',').map(mediaRange));
  const stream = qualities.get('text/event-stream') ?? 0;
  return stream > 0 && stream >= (qualities.get('application/json') ?? 0);
}

function mediaRange(text: string): [type: string, quality: number] {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  const quality = parameters.find((parameter) => parameter.startsWith('q='));
  return [type, quality === undefined ? 1 : Number(quality.slice(2)) || 0];
}
