import { z } from 'zod';

/**
 * Coder's chat lifecycle events (experimental, schema_version 1). Requests are read leniently: unknown members anywhere
 * are accepted, because the sender adds to them without a new version.
 */
export const EVENT_TYPES = [
  'session_start',
  'user_prompt_submit',
  'pre_tool_use',
  'post_tool_use',
  'pre_compact',
  'post_compact',
  'stop',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Events whose answer may deny or rewrite. The others only inform. */
export type DecidableType = 'user_prompt_submit' | 'pre_tool_use';

export function isDecidable(type: EventType): type is DecidableType {
  return type === 'user_prompt_submit' || type === 'pre_tool_use';
}

export function isEventType(text: unknown): text is EventType {
  return EVENT_TYPES.some((type) => type === text);
}

/** UUIDs compare by value: they are kept in lower case. */
const uuid = z
  .string()
  .regex(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i)
  .transform((text) => text.toLowerCase());

const metaSchema = z.looseObject({
  dispatch_id: uuid,
  schema_version: z.literal(1),
  chat_id: uuid,
  owner_id: uuid,
  workspace_id: uuid.nullish(),
  turn_id: uuid.nullish(),
  parent_chat_id: uuid.nullish(),
  root_chat_id: uuid.nullish(),
});

const toolUse = { tool_use_id: z.string().min(1), tool_name: z.string().min(1) };

const DATA = {
  session_start: z.looseObject({ source: z.string().optional() }),
  user_prompt_submit: z.looseObject({ prompt: z.string(), parts: z.array(z.unknown()).optional() }),
  pre_tool_use: z.looseObject({ ...toolUse, tool_input: z.unknown().optional() }),
  post_tool_use: z.looseObject({
    ...toolUse,
    tool_response: z.unknown().optional(),
    tool_error: z.string().optional(),
  }),
  pre_compact: z.looseObject({}),
  post_compact: z.looseObject({}),
  stop: z.looseObject({}),
} as const satisfies Record<EventType, z.ZodType>;

export interface EventMeta {
  readonly dispatchId: string;
  readonly chatId: string;
  readonly ownerId: string;
  readonly workspaceId?: string;
  readonly turnId?: string;
  readonly parentChatId?: string;
  readonly rootChatId?: string;
}

type DataOf<Type extends EventType> = z.output<(typeof DATA)[Type]>;

export type CoderEvent = {
  [Type in EventType]: { readonly type: Type; readonly meta: EventMeta; readonly data: DataOf<Type> };
}[EventType];

export type EventReading =
  { readonly ok: true; readonly event: CoderEvent } | { readonly ok: false; readonly problem: string };

/** @param value the one JSON value that the body is */
export function readEvent(value: unknown): EventReading {
  const envelope = z
    .looseObject({ type: z.enum(EVENT_TYPES), meta: metaSchema, data: z.unknown().optional() })
    .safeParse(value);
  if (!envelope.success) return { ok: false, problem: firstFault(envelope.error, '') };
  const { type, meta } = envelope.data;
  const data = DATA[type].safeParse(envelope.data.data ?? {});
  if (!data.success) return { ok: false, problem: firstFault(data.error, '/data') };
  return { ok: true, event: { type, meta: metaOf(meta), data: data.data } as CoderEvent };
}

function metaOf(meta: z.output<typeof metaSchema>): EventMeta {
  const { workspace_id, turn_id, parent_chat_id, root_chat_id } = meta;
  return {
    dispatchId: meta.dispatch_id,
    chatId: meta.chat_id,
    ownerId: meta.owner_id,
    ...(workspace_id != null && { workspaceId: workspace_id }),
    ...(turn_id != null && { turnId: turn_id }),
    ...(parent_chat_id != null && { parentChatId: parent_chat_id }),
    ...(root_chat_id != null && { rootChatId: root_chat_id }),
  };
}

/** Says where, and never what was found there. */
function firstFault(error: z.ZodError, at: string): string {
  const [issue] = error.issues;
  const pointer = (issue?.path ?? []).map((part) => `/${String(part)}`).join('');
  return `${at}${pointer}: ${issue?.message ?? 'not as it should be'}`;
}
