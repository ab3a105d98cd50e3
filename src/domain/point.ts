/** Where in the work a hook may stand. */
export type Point = 'before_input' | 'before_tool_call' | 'after_tool_call' | 'after_output';

/** The points at which this version asks hooks; a profile that names another one is refused. */
export const SERVED_POINTS = ['before_tool_call'] as const satisfies readonly Point[];

/** The one member of a HookResult that may carry a rewrite at a point. */
export const REWRITE_MEMBER = {
  before_input: 'updatedText',
  before_tool_call: 'updatedInput',
  after_tool_call: 'updatedOutput',
  after_output: 'updatedText',
} as const satisfies Record<Point, string>;
