/** One line of the table. `bare` and `ratio` are absent where a number has to stay under a bound. */
export interface Row {
  readonly row: string;
  readonly unit: 'ms' | '/s' | 'events' | 'bytes';
  readonly ours: number;
  readonly bare?: number;
  readonly ratio?: number;
  readonly goal: string;
  readonly holds: boolean;
}

export function compared(
  row: string,
  unit: Row['unit'],
  { ours, bare }: { ours: number; bare: number },
  goal: { atMost: number } | { atLeast: number },
): Row {
  const ratio = ours / bare;
  const holds = 'atMost' in goal ? ratio <= goal.atMost : ratio >= goal.atLeast;
  const text = 'atMost' in goal ? `≤ ${goal.atMost}×` : `≥ ${goal.atLeast}×`;
  return { row, unit, ours: rounded(ours), bare: rounded(bare), ratio: rounded(ratio), goal: text, holds };
}

export function bounded(row: string, unit: Row['unit'], ours: number, atMost: number): Row {
  return { row, unit, ours, goal: `≤ ${atMost} ${unit}`, holds: ours <= atMost };
}

export function table(rows: readonly Row[]): string {
  const lines = rows.map(({ row, unit, ours, bare, ratio, goal, holds }) => [
    row,
    `${ours} ${unit}`,
    bare === undefined ? '' : `${bare} ${unit}`,
    ratio === undefined ? '' : `${ratio}×`,
    goal,
    holds ? 'holds' : 'DOES NOT HOLD',
  ]);
  const all = [['row', 'ours', 'bare', 'ratio', 'goal', ''], ...lines];
  const widths = all[0]?.map((_, column) => Math.max(...all.map((line) => line[column]?.length ?? 0))) ?? [];
  return all
    .map((line) =>
      line
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function rounded(value: number): number {
  return Number(value.toPrecision(3));
}
