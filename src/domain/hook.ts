import type { Hook } from './hook-schema';
import { isTextPoint, type Point, type TextPoint } from './point';
import { toolMatches } from './tool-pattern';

export type { Hook } from './hook-schema';
export type ClientProcessor = Extract<Hook['processor'], { type: 'client' }>;
export type AgentProcessor = Extract<Hook['processor'], { type: 'agent' }>;
export type UrlProcessor = Extract<Hook['processor'], { type: 'url' }>;

/** A hook together with its place in the profile's list, which the audit names. */
export interface PlacedHook {
  readonly index: number;
  readonly hook: Hook;
}

/** A placed hook that is asked by HTTP. */
export interface PlacedUrlHook extends PlacedHook {
  readonly hook: Hook & { readonly processor: UrlProcessor };
}

/** A placed hook that another model judges for. */
export interface PlacedAgentHook extends PlacedHook {
  readonly hook: Hook & { readonly processor: AgentProcessor };
}

/** A placed hook that is asked by the service: neither a person nor a rule. */
export type PlacedAskedHook = PlacedUrlHook | PlacedAgentHook;

/** The hooks that run for a tool, in profile order. A hook without `match.tools` runs for every tool. */
export function hooksForTool(hooks: readonly Hook[], tool: string): PlacedHook[] {
  return place(hooks).filter(
    ({ hook }) =>
      !isTextPoint(hook.point) && (hook.match?.tools?.some((pattern) => toolMatches(pattern, tool)) ?? true),
  );
}

/** The hooks that judge a text, in profile order. */
export function hooksForText(hooks: readonly Hook[], point: TextPoint): PlacedHook[] {
  return hooksAt(place(hooks), point);
}

function place(hooks: readonly Hook[]): PlacedHook[] {
  return hooks.map((hook, index) => ({ hook, index }));
}

export function hooksAt(placed: readonly PlacedHook[], point: Point): PlacedHook[] {
  return placed.filter(({ hook }) => hook.point === point);
}

export function isUrlHook(placed: PlacedHook): placed is PlacedUrlHook {
  return placed.hook.processor.type === 'url';
}

export function isAgentHook(placed: PlacedHook): placed is PlacedAgentHook {
  return placed.hook.processor.type === 'agent';
}
