/**
 * Scenarios of the fault tests: real processes and real servers, killed with SIGKILL where the scenario says.
 *
 *   npx jest test/faults                          each scenario once, in about two minutes on two cores
 *   PORTCULLIS_FAULTS=long npx jest test/faults   each of them ten times, under the load of the others
 *
 * A worker and a Nexus that are to die are programs of this folder, which wire the production code and kill themselves
 * at a named point (crash-point.ts). Each scene has its own tenant and task queue; those that restart a server have
 * servers of their own.
 */
const TIMES = process.env['PORTCULLIS_FAULTS'] === 'long' ? 10 : 1;

/** Taking over from a dead worker alone takes up to ten seconds, and a shared machine may be slow. */
const TIMEOUT_MS = 120_000;

/** One scenario, played beside the others of its file. */
export function scenarios(guarantee: string, play: () => Promise<void>): void {
  if (TIMES === 1) {
    test.concurrent(guarantee, play, TIMEOUT_MS);
    return;
  }
  const times = Array.from({ length: TIMES }, (_, index) => [index + 1]);
  test.concurrent.each(times)(`${guarantee} (%i)`, play, TIMEOUT_MS);
}
