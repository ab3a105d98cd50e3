import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PORTCULLIS, RunningSystem, SYSTEM_TIMEOUT_MS, WORKSPACE } from './running-system';

/** The environment of a process, as the system has it. */
function environmentOf(pid: number): string {
  return readFileSync(`/proc/${pid}/environ`, 'utf8');
}

test(
  'a system that was just started takes events of Coder, and only Manager knows the secret that they are signed with',
  async () => {
    const system = await RunningSystem.start();
    try {
      const keys = JSON.parse(readFileSync(join(system.dataDir, 'keys.json'), 'utf8'));
      const ready = JSON.parse(readFileSync(join(system.dataDir, 'ready.json'), 'utf8'));
      expect(keys.coder.url).toBe(`${ready.manager}/api/v1/hooks/coder/chat`);
      const tool = (name: string) => ({ tool_use_id: name, tool_name: name, tool_input: {} });
      const events = [
        { type: 'session_start', data: { source: 'startup' } },
        { type: 'pre_tool_use', data: tool('read_file') },
        { type: 'pre_tool_use', data: tool('execute') },
        { type: 'stop' },
      ];
      const file = join(system.folder, 'events.jsonl');
      writeFileSync(file, events.map((event) => JSON.stringify(event)).join('\n'));
      const args = ['--file', file, '--url', keys.coder.url, '--timeout', '10000'];
      const printed = execFileSync(
        process.execPath,
        [PORTCULLIS, 'coder', 'simulate', ...args, '--workspace', WORKSPACE],
        { env: { ...process.env, CODER_HOOK_SECRET: keys.coder.secret }, encoding: 'utf8' },
      );
      const outcomes = printed.split('\n').map((line) => line.replace(/ \d+ ms$/, ''));
      expect(outcomes.slice(0, 2)).toEqual(['1 session_start no objection', '2 pre_tool_use no objection']);
      // A default hook stands before what runs in a shell.
      expect(outcomes[2]).toMatch(/^3 pre_tool_use denied: Not decided yet: this waits for .*\/waits\//);
      expect(outcomes[3]).toBe('4 stop no objection');
      expect(outcomes[4]).toMatch(/^4 events, 0 errors/);

      expect(environmentOf(ready.pids.manager)).toContain(keys.coder.secret);
      for (const name of ['nexus', 'worker'])
        expect(environmentOf(ready.pids[name])).not.toContain(keys.coder.secret);
    } finally {
      await system.stop();
    }
  },
  SYSTEM_TIMEOUT_MS,
);
