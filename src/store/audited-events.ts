import type { EventDraft } from '../domain/audit';
import type { JsonValue } from '../domain/json-value';
import { redactText, redactValue, replaceSecrets, type RedactionRules } from '../domain/redaction';
import type { AuditValues } from '../domain/settings';
import type { Blobs } from './blobs';
import type { Settings } from './settings';

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

  /** Type and data of each event, as JSON text. */
  async prepare(callId: string, drafts: readonly EventDraft[]): Promise<{ type: string; data: string }[]> {
    if (drafts.length === 0) return [];
    const [{ auditValues, redaction }, secrets] = await Promise.all([
      this.settings.read(),
      this.knownSecrets(),
    ]);
    const rules: RedactionRules = { ...redaction, secrets };
    return Promise.all(
      drafts.map(async (draft) => {
        const value = auditValues === 'none' ? undefined : await this.shownValue(callId, draft);
        const shown = value && { value: censor(value.value, auditValues, rules) };
        return { type: draft.type, data: JSON.stringify({ ...censorReasons(draft.data, rules), ...shown }) };
      }),
    );
  }

  private async shownValue(callId: string, { shows }: EventDraft): Promise<{ value: JsonValue } | undefined> {
    if (shows === undefined) return undefined;
    // A step that is stored again by another attempt may find the blob gone with a later step.
    return this.blobs.find(callId, shows);
  }
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
