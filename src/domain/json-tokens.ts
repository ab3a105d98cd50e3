/** Where JSON text stops being JSON, as an offset in UTF-16 code units. */
export class JsonSyntaxFault extends Error {
  override readonly name = 'JsonSyntaxFault';

  constructor(
    readonly position: number,
    readonly expected: string,
  ) {
    super(`expected ${expected} at position ${position}`);
  }
}

const WHITESPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const WORD = /true|false|null/y;
/** Only ever looks for one character, so that a string of a megabyte cannot exhaust the matcher's stack. */
const STRING_STOP = /["\\\u0000-\u001f]/g;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** Reads the tokens of RFC 8259 from left to right; every method throws {@link JsonSyntaxFault}. */
export class JsonTokens {
  #at = 0;

  constructor(private readonly text: string) {}

  get position(): number {
    return this.#at;
  }

  /** The next character that is not white space, `''` at the end. It is not consumed. */
  peek(): string {
    this.#consume(WHITESPACE);
    return this.text.charAt(this.#at);
  }

  /** Consumes the character that {@link peek} showed. */
  skip(): void {
    this.#at += 1;
  }

  fail(expected: string): never {
    throw new JsonSyntaxFault(this.#at, expected);
  }

  /** A number, `true`, `false` or `null`. */
  scalar(): void {
    if (!this.#consume(NUMBER) && !this.#consume(WORD)) this.fail('a JSON value');
  }

  /** The value of a string token. */
  string(): string {
    const start = this.#at;
    this.#at += 1;
    let escaped = false;
    for (;;) {
      STRING_STOP.lastIndex = this.#at;
      const stop = STRING_STOP.exec(this.text);
      if (stop === null) {
        this.#at = this.text.length;
        this.fail('a closing quotation mark');
      }
      this.#at = stop.index;
      if (stop[0] === '"') break;
      if (stop[0] !== '\\') this.fail('an escaped control character');
      if (!this.#consume(ESCAPE)) this.fail('a valid escape sequence');
      escaped = true;
    }
    this.#at += 1;
    const token = this.text.slice(start, this.#at);
    return escaped ? String(JSON.parse(token)) : token.slice(1, -1);
  }

  #consume(pattern: RegExp): boolean {
    pattern.lastIndex = this.#at;
    if (!pattern.test(this.text)) return false;
    this.#at = pattern.lastIndex;
    return true;
  }
}
