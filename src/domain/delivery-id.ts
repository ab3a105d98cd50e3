import { POINTS, type Point } from './point';

/** One evaluation of one hook. Every attempt to deliver it has the same id. */
export interface DeliveryPlace {
  readonly tenant: string;
  readonly callId: string;
  readonly point: Point;
  /** Place of the hook in its profile's list. */
  readonly index: number;
}

const LETTERS = {
  before_input: 'i',
  before_tool_call: 'b',
  after_tool_call: 'a',
  after_output: 'o',
} as const satisfies Record<Point, string>;

/** `dlv_<tenant>_<callId>_<i|b|a|o><index>`; tenants and call ids hold no `_`. */
export function deliveryIdOf({ tenant, callId, point, index }: DeliveryPlace): string {
  return `dlv_${tenant}_${callId}_${LETTERS[point]}${index}`;
}

/** Where an answer belongs, or nothing for a text that is no delivery's id. */
export function parseDeliveryId(text: string): DeliveryPlace | undefined {
  const match = /^dlv_([a-z0-9-]{1,40})_([A-Za-z0-9-]{1,128})_([ibao])(0|[1-9]\d?)$/.exec(text);
  if (match === null) return undefined;
  const [, tenant = '', callId = '', letter, index = ''] = match;
  const point = POINTS.find((each) => LETTERS[each] === letter);
  return point && { tenant, callId, point, index: Number(index) };
}
