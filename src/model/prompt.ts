import type { LanguageModelV3Message, LanguageModelV3Prompt } from '@ai-sdk/provider';
import type { JsonValue } from '../domain/json-value';
import type { WireNames } from './wire-names';

/** What a model is told, in order. */
export type Message =
  | { readonly role: 'user'; readonly text: string }
  | { readonly role: 'assistant'; readonly text: string }
  | {
      readonly role: 'tools';
      /** What the model said with its calls. */
      readonly said?: string;
      readonly calls: readonly ToolExchange[];
    };

/** One call of a tool, and what the model is told of it: a JSON object with its `status`. */
export interface ToolExchange {
  /** Unique in the conversation. */
  readonly id: string;
  readonly tool: string;
  readonly input: JsonValue;
  readonly result: JsonValue;
}

/** The prompt in the AI SDK's language model specification, version 3. */
export function promptOf(
  instructions: string | undefined,
  messages: readonly Message[],
  names: WireNames,
): LanguageModelV3Prompt {
  return [
    ...(instructions === undefined ? [] : [{ role: 'system' as const, content: instructions }]),
    ...messages.flatMap((message) => wireMessages(message, names)),
  ];
}

function wireMessages(message: Message, names: WireNames): LanguageModelV3Message[] {
  switch (message.role) {
    case 'user':
    case 'assistant':
      return [{ role: message.role, content: [{ type: 'text', text: message.text }] }];
    case 'tools':
      return [
        {
          role: 'assistant',
          content: [
            ...(message.said === undefined ? [] : [{ type: 'text' as const, text: message.said }]),
            ...message.calls.map(({ id, tool, input }) => ({
              type: 'tool-call' as const,
              toolCallId: id,
              toolName: names.wireName(tool),
              input,
            })),
          ],
        },
        {
          role: 'tool',
          content: message.calls.map(({ id, tool, result }) => ({
            type: 'tool-result' as const,
            toolCallId: id,
            toolName: names.wireName(tool),
            // As text, because that is what the API takes; a value with a status in either case.
            output: { type: 'text' as const, value: JSON.stringify(result) },
          })),
        },
      ];
  }
}
