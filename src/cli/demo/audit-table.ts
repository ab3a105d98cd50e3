import type { AuditEvent } from './shapes';

const HEADINGS = ['seq', 'time', 'event', 'call', 'what'] as const;
const SHOWN_ID = 6;

/** Events as a table of plain text. */
export function auditTable(events: readonly AuditEvent[]): string {
  const rows = [HEADINGS, ...events.map(rowOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const [head = '', ...lines] = rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return [head, widths.map((width) => '─'.repeat(width)).join('  '), ...lines].join('\n');
}

function rowOf({ seq, at, type, data }: AuditEvent): string[] {
  const callId = textOf(data['callId']);
  // Ids of calls begin with the time; their ends tell them apart.
  return [String(seq), at.slice(11, 23), type, callId && `…${callId.slice(-SHOWN_ID)}`, whatOf(type, data)];
}

function whatOf(type: string, data: AuditEvent['data']): string {
  switch (type) {
    case 'tool_call_started':
      return `${textOf(data['tool'])} asked for by ${textOf(data['requestedBy'])}`;
    case 'wait_opened':
      return `${textOf(data['hookId'])} asks a person`;
    case 'wait_resolved':
      return joined(data['outcome'], data['decision'], by(data['by']), data['rewrote'] && 'edited');
    case 'hook_decision':
      return joined(data['decision'], reasonOf(data['reason']));
    case 'tool_finished':
      return joined(data['result'], `digest ${textOf(data['digest']).slice(0, 8)}…`);
    case 'tool_call_finished':
      return textOf(data['status']);
    case 'thread_closed':
      return by([data['by']]);
    default:
      return '';
  }
}

function reasonOf(reason: unknown): string {
  if (typeof reason !== 'object' || reason === null) return '';
  const { code, text } = reason as { code?: unknown; text?: unknown };
  return textOf(text) === '' ? textOf(code) : `“${textOf(text)}”`;
}

function by(owners: unknown): string {
  return Array.isArray(owners) && owners.length > 0 ? `by ${owners.map(textOf).join(', ')}` : '';
}

function joined(...parts: readonly unknown[]): string {
  return parts
    .map(textOf)
    .filter((part) => part !== '')
    .join(', ');
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
