import { readManagerSettings } from '../../src/cli/service/manager-settings';

const GOOD = {
  PORTCULLIS_MANAGER_REDIS: 'redis://localhost',
  CODER_HOOK_AUDIENCE: 'https://h.example/api/v1/hooks/coder/chat',
  CODER_HOOK_SECRET: 'x'.repeat(32),
};

test('what is not set has its default', () => {
  expect(readManagerSettings(GOOD)).toMatchObject({
    budgetMs: 1_200,
    port: 7_071,
    secrets: ['x'.repeat(32)],
  });
});

test.each([
  ['no secret', { CODER_HOOK_SECRET: undefined }, /set CODER_HOOK_SECRET/],
  ['31 bytes', { CODER_HOOK_SECRET: 'x'.repeat(31) }, /shorter than 32 bytes/],
  [
    'a secret of an example',
    { CODER_HOOK_SECRET: 'changeme-changeme-changeme-changeme' },
    /looks like one from an example/,
  ],
  ['no audience', { CODER_HOOK_AUDIENCE: undefined }, /set CODER_HOOK_AUDIENCE/],
  ['no store', { PORTCULLIS_MANAGER_REDIS: undefined }, /set PORTCULLIS_MANAGER_REDIS/],
  ['a budget of a minute', { CODER_HOOK_BUDGET_MS: '60000' }, /50 to 10000/],
])('with %s Manager does not start, and says what to set', (_what, spoiled, message) => {
  const read = (): unknown => readManagerSettings({ ...GOOD, ...spoiled });
  expect(read).toThrow(message);
  expect(read).not.toThrow(/x{31}/);
});
