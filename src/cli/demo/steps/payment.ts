/** What the agent wants to do, and what a person makes of it. */
export const PAYMENT = { to: 'ACME Ltd', amount: 900, currency: 'EUR' } as const;
export const LOWERED_PAYMENT = { ...PAYMENT, amount: 250 } as const;
export const PAYMENT_TOOL = 'payments.transfer';
export const PAYMENT_HOOK = 'default:payments';

export const callsOf = (threadId: string): string => `/v1/threads/${threadId}/tool-calls`;
export const callAt = (threadId: string, callId: string): string => `${callsOf(threadId)}/${callId}`;
export const resolveAt = (wait: { threadId: string; id: string }): string =>
  `/v1/threads/${wait.threadId}/waits/${wait.id}/resolve`;
