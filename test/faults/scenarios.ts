/** The long form plays each scenario this often. */
const TIMES = process.env['PORTCULLIS_FAULTS'] === 'long' ? 10 : 1;

/** One scenario of the fault tests, beside the others of its file. The long form: `PORTCULLIS_FAULTS=long`. */
export function scenarios(guarantee: string, play: () => Promise<void>): void {
  if (TIMES === 1) {
    test.concurrent(guarantee, play);
    return;
  }
  test.concurrent.each(Array.from({ length: TIMES }, (_, index) => [index + 1]))(`${guarantee} (%i)`, play);
}
