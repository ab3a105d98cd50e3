/** Where in the work a hook may stand. */
export type Point = 'before_input' | 'before_tool_call' | 'after_tool_call' | 'after_output';

/** The points at which this version asks hooks; a profile that names another one is refused. */
export const SERVED_POINTS = ['before_tool_call', 'after_tool_call'] as const satisfies readonly Point[];

export type ToolPoint = (typeof SERVED_POINTS)[number];

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
export function isAfterTool(point: Point): boolean {
  return point === 'after_tool_call';
}
