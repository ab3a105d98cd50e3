/** Where in the work a hook may stand. */
export const POINTS = ['before_input', 'before_tool_call', 'after_tool_call', 'after_output'] as const;

export type Point = (typeof POINTS)[number];

/** Where a text is judged: what a user says to a model, and what a model says in the end. */
export type TextPoint = 'before_input' | 'after_output';

export function isTextPoint(point: Point): point is TextPoint {
  return point === 'before_input' || point === 'after_output';
}

/** The one member of a HookResult that may carry a rewrite at a point. */
export const REWRITE_MEMBER = {
  before_input: 'updatedText',
  before_tool_call: 'updatedInput',
  after_tool_call: 'updatedOutput',
  after_output: 'updatedText',
} as const satisfies Record<Point, string>;

/**
 * Whether what is judged at a point has to stay out of Temporal's history, events and logs until it is let through.
 * Such a subject, and every rewrite of it, travels as the name of a blob, however small it is.
 */
export function isQuarantined(point: Point): boolean {
  return point !== 'before_tool_call';
}

/** Whether the work that a point stands at has been done already, so that a denial there cannot undo it. */
export function isAfterPoint(point: Point): point is 'after_tool_call' | 'after_output' {
  return point === 'after_tool_call' || point === 'after_output';
}
