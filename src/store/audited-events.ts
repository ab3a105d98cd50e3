import type { EventDraft } from '../domain/audit';
import type { JsonObject, JsonValue } from '../domain/json-value';
import { redactText, redactValue, replaceSecrets, type RedactionRules } from '../domain/redaction';
import type { AuditValues, TenantSettings } from '../domain/settings';
import type { Blobs } from './blobs';
import type { Settings } from './settings';

/** What the tenant lets the audit show. */
export interface AuditRules {
  readonly auditValues: AuditValues;
  readonly redaction: RedactionRules;
}

/**
 * Makes events what the tenant lets the audit show. Digests stand in every event; the value itself is added as far as
 * `auditValues` says, and a secret that the service knows is in none of them, at any depth, whatever the setting.
 */
export class AuditedEvents {
  constructor(
    private readonly blobs: Blobs,
    private readonly settings: Settings,
    private readonly knownSecrets: () => Promise<readonly string[]>,
  ) {}

  /** What holds for events that are stored about now. Reading it ahead of the writing spares a round trip. */
  async readRules(known?: TenantSettings): Promise<AuditRules> {
    const [{ auditValues, redaction }, secrets] = await Promise.all([
      known ?? this.settings.read(),
      this.knownSecrets(),
    ]);
    return { auditValues, redaction: { ...redaction, secrets } };
  }

  /** Type and data of each event, as JSON text. */
  async prepare(
    callId: string,
    drafts: readonly EventDraft[],
    given?: AuditRules | Promise<AuditRules>,
  ): Promise<{ type: string; data: string }[]> {
    if (!drafts.some(saysMore)) return drafts.map(({ type, data }) => ({ type, data: JSON.stringify(data) }));
    const { auditValues, redaction: rules } = await (given ?? this.readRules());
    return Promise.all(
      drafts.map(async (draft) => {
        const value = auditValues === 'none' ? undefined : await this.shownValue(callId, draft);
        const shown = value && { value: censor(value.value, auditValues, rules) };
        // Event data is JSON. A caller may have put a secret into a name, too.
        const data = replaceSecrets(
          censorReasons(draft.data, rules) as JsonObject,
          rules.secrets,
        ) as JsonObject;
        return { type: draft.type, data: JSON.stringify({ ...data, ...shown }) };
      }),
    );
  }

  private async shownValue(callId: string, { shows }: EventDraft): Promise<{ value: JsonValue } | undefined> {
    if (shows === undefined) return undefined;
    // A step that is stored again by another attempt may find the blob gone with a later step.
    return this.blobs.find(callId, shows);
  }
}

/** Whether an event holds more than names, numbers and digests. */
function saysMore({ shows, data }: EventDraft): boolean {
  return shows !== undefined || 'reason' in data || 'denial' in data;
}

function censor(value: JsonValue, mode: AuditValues, rules: RedactionRules): JsonValue {
  return mode === 'full' ? replaceSecrets(value, rules.secrets) : redactValue(value, rules);
}

/** Reasons are free text of hooks and people. */
function censorReasons(data: EventDraft['data'], rules: RedactionRules): object {
  const censored = (reason: { text?: string }): object =>
    reason.text === undefined ? reason : { ...reason, text: redactText(reason.text, rules) };
  return {
    ...data,
    ...('reason' in data && data.reason !== undefined && { reason: censored(data.reason) }),
    ...('denial' in data &&
      data.denial !== undefined && { denial: { ...data.denial, reason: censored(data.denial.reason) } }),
  };
}
