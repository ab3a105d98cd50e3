import { sha256Hex } from '../domain/digest';

/** What the API takes as the name of a function (OpenAI API reference, "Create chat completion", `tools`). */
const WIRE_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_WIRE_NAME = 64;

/**
 * The names under which tools are offered to a model. A name that the API does not take, such as `payments.transfer`, is
 * spelt with underscores; where that would be another tool's name, or is too long, a part of its digest is added. The
 * same list of tools has the same names every time.
 */
export class WireNames {
  private readonly toWire = new Map<string, string>();
  private readonly toTool = new Map<string, string>();

  constructor(tools: readonly string[]) {
    for (const tool of tools.filter((name) => WIRE_NAME.test(name))) this.add(tool, tool);
    for (const tool of tools) if (!this.toWire.has(tool)) this.add(tool, this.spell(tool));
  }

  /** Also of a tool that is not offered any more, because an earlier message names it. */
  wireName(tool: string): string {
    return this.toWire.get(tool) ?? this.spell(tool);
  }

  /** The tool of this name, or nothing when none is offered under it. */
  toolOf(wireName: string): string | undefined {
    return this.toTool.get(wireName);
  }

  private add(tool: string, wireName: string): void {
    this.toWire.set(tool, wireName);
    this.toTool.set(wireName, tool);
  }

  private spell(tool: string): string {
    const plain = tool.replaceAll(/[^A-Za-z0-9_-]/g, '_');
    if (plain.length <= MAX_WIRE_NAME && !this.toTool.has(plain)) return plain;
    return `${plain.slice(0, MAX_WIRE_NAME - 13)}_${sha256Hex(tool).slice(0, 12)}`;
  }
}
