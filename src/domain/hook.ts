import type { Hook } from './hook-schema';
import type { Point } from './point';
import { toolMatches } from './tool-pattern';

export type { Hook } from './hook-schema';
export type ClientProcessor = Extract<Hook['processor'], { type: 'client' }>;
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

/** The hooks that run for a tool, in profile order. A hook without `match.tools` runs for every tool. */
export function hooksForTool(hooks: readonly Hook[], tool: string): PlacedHook[] {
  return hooks
    .map((hook, index) => ({ hook, index }))
    .filter(({ hook }) => hook.match?.tools?.some((pattern) => toolMatches(pattern, tool)) ?? true);
}

export function hooksAt(placed: readonly PlacedHook[], point: Point): PlacedHook[] {
  return placed.filter(({ hook }) => hook.point === point);
}

export function isUrlHook(placed: PlacedHook): placed is PlacedUrlHook {
  return placed.hook.processor.type === 'url';
}
