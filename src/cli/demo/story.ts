import { UnexpectedResult } from './expectation';

/** A step of the demo that was not as it should be. */
export class StepFailed extends Error {
  override readonly name = 'StepFailed';
}

/** Tells the steps one after the other. */
export class Story {
  private count = 0;

  constructor(private readonly write: (line: string) => void) {}

  /** A step is told by its title, then by what came of it. @throws StepFailed when that is not as it should be */
  async step<Result>(title: string, play: () => Promise<Result>): Promise<Result> {
    this.count += 1;
    this.write('');
    this.write(`${String(this.count).padStart(2)}. ${title}`);
    try {
      return await play();
    } catch (error) {
      throw new StepFailed(`Step ${this.count} failed: ${title}\n${reasonOf(error)}`, { cause: error });
    }
  }

  say(text: string): void {
    for (const line of text.split('\n')) this.write(`    ${line}`);
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof UnexpectedResult) return `  expected: ${error.expected}\n  found:    ${error.found}`;
  const message = error instanceof Error ? error.message : String(error);
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  return `  ${message}${cause}`;
}
