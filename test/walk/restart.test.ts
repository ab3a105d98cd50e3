import { execFileSync } from 'node:child_process';
import { Api } from '../support/api';
import { RunningSystem, SYSTEM_TIMEOUT_MS } from './running-system';

/** Processes whose command line names the folder of this run. */
function processesOf(folder: string): string[] {
  const lines = execFileSync('ps', ['-eo', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(folder));
}

test(
  'Ctrl-C while a call is parked leaves nothing running; started again, the wait is listed and resolves',
  async () => {
    const system = await RunningSystem.start();
    try {
      const before = apis(system);
      const profile = await before.admin.post('/v1/profiles', { name: 'restart' });
      const thread = await before.agent.post('/v1/threads', { profileId: profile.body.id });
      const calls = `/v1/threads/${thread.body.id}/tool-calls`;
      const parked = await before.agent.post(calls, { tool: 'payments.transfer', input: { amount: 5 } });
      expect(parked.status).toBe(202);

      await system.interrupt();
      expect(processesOf(system.folder)).toEqual([]);

      await system.startAgain();
      const after = apis(system);
      const waiting = await after.approver.get('/v1/threads?state=waiting');
      const [wait] = waiting.body.items[0].pendingWaits;
      expect(wait).toMatchObject({ callId: parked.body.id, value: { amount: 5 } });
      const resolve = `/v1/threads/${thread.body.id}/waits/${wait.id}/resolve`;
      expect((await after.approver.post(resolve, { decision: 'allow' })).status).toBe(200);
      const allowed = await after.agent.get(`${calls}/${parked.body.id}`, { prefer: 'wait=20' });
      expect(allowed.body).toMatchObject({ status: 'allowed', input: { amount: 5 } });
      const done = await after.agent.post(`${calls}/${parked.body.id}/output`, { output: 'sent' });
      expect(done.body.status).toBe('completed');
    } finally {
      await system.stop();
    }
    expect(processesOf(system.folder)).toEqual([]);
  },
  2 * SYSTEM_TIMEOUT_MS,
);

function apis(system: RunningSystem) {
  const { nexus = '' } = system.readJson('ready.json');
  const { agent = '', approver = '', admin = '' } = system.readJson('keys.json');
  return {
    agent: new Api(nexus, agent),
    approver: new Api(nexus, approver),
    admin: new Api(nexus, admin),
  };
}
