import type { CommandLine, CommandPipeline, Redirection, SimpleCommand } from './command-line.ts';
import { commandUnclear } from './command-unclear.ts';
import { readTokens } from './read-tokens.ts';
import type { Token } from './read-tokens.ts';

/** What one argument of a program may have on Linux, less some room for quoting. */
export const maxCommandBytes = 96 * 1024;
const maxCommands = 100;

const keywords = new Set(
  ['if then elif else fi for while until do done case esac in', 'function select time coproc [[ ]]'].flatMap((line) =>
    line.split(' '),
  ),
);

// Text for a terminal has tabs and line ends; whatever else is in there is a trick.
const controlCharacter = /[\0-\x08\x0b-\x1f\x7f-\x9f]/;

/**
 * Reads the small part of the shell's language in which every word can be known without running anything: plain and
 * quoted words, pipelines, `&&`, `||`, `;`, line ends, and redirections to and from files. What is accepted means to
 * every POSIX shell exactly what is returned. Throws ToolRefused COMMAND_UNCLEAR for the rest.
 */
export function parseCommand(text: string): CommandLine {
  if (Buffer.byteLength(text) > maxCommandBytes) {
    throw commandUnclear(`more than ${maxCommandBytes} bytes`, maxCommandBytes);
  }
  const control = controlCharacter.exec(text);
  if (control !== null) throw commandUnclear('a control character', control.index);
  if (!text.isWellFormed()) throw commandUnclear('half of a surrogate pair', 0);
  const line = new CommandParser(readTokens(text), text.length).parse();
  const count = line.pipelines.reduce((sum, { commands }) => sum + commands.length, 0);
  if (count > maxCommands) throw commandUnclear(`more than ${maxCommands} commands`, text.length);
  return line;
}

class CommandParser {
  readonly #tokens: readonly Token[];
  readonly #end: number;
  #next = 0;

  constructor(tokens: readonly Token[], end: number) {
    this.#tokens = tokens;
    this.#end = end;
  }

  parse(): CommandLine {
    this.#skipLineEnds();
    const pipelines: CommandPipeline[] = [{ after: ';', commands: this.#parsePipeline() }];
    for (let after = this.#takeJoint(); after !== undefined; after = this.#takeJoint()) {
      pipelines.push({ after, commands: this.#parsePipeline() });
    }
    return { pipelines };
  }

  #parsePipeline(): readonly SimpleCommand[] {
    const commands = [this.#parseSimpleCommand()];
    while (this.#takeSeparator('|')) {
      this.#skipLineEnds();
      commands.push(this.#parseSimpleCommand());
    }
    return commands;
  }

  /** What joins the next pipeline to the one before. Undefined: this is the last pipeline. */
  #takeJoint(): CommandPipeline['after'] | undefined {
    for (const joint of ['&&', '||'] as const) {
      if (!this.#takeSeparator(joint)) continue;
      this.#skipLineEnds();
      return joint;
    }
    if (!this.#takeSeparator(';')) this.#takeSeparator('\n');
    this.#skipLineEnds();
    return this.#next === this.#tokens.length ? undefined : ';';
  }

  #parseSimpleCommand(): SimpleCommand {
    const at = this.#position();
    const words: string[] = [];
    const redirections: Redirection[] = [];
    for (let token = this.#peek(); token !== undefined && token.kind !== 'separator'; token = this.#peek()) {
      this.#next++;
      if (token.kind !== 'word') redirections.push(this.#readRedirection(token));
      else if (words.length === 0) words.push(this.#checkProgram(token));
      else words.push(token.word.value);
    }
    const [program, ...rest] = words;
    if (program === undefined) throw commandUnclear('a place without a command', at);
    return { words: [program, ...rest], redirections };
  }

  #checkProgram({ at, word }: Extract<Token, { kind: 'word' }>): string {
    if (word.value === '') throw commandUnclear('a program without a name', at);
    if (word.assigns) {
      throw commandUnclear('an assignment before a command', at, 'Give variables as env instead.');
    }
    if (word.value.startsWith('%')) throw commandUnclear('a job (%)', at);
    if (!word.quoted && keywords.has(word.value)) throw commandUnclear(`the keyword ${word.value}`, at);
    return word.value;
  }

  #readRedirection(token: Extract<Token, { kind: 'redirect' | 'merge' }>): Redirection {
    if (token.kind === 'merge') return { kind: 'merge', descriptor: token.descriptor, like: token.like };
    const target = this.#peek();
    if (target?.kind !== 'word' || target.word.value === '') {
      throw commandUnclear('a redirection without a file', token.at);
    }
    this.#next++;
    const { value } = target.word;
    const { descriptor, append } = token;
    return descriptor === 0
      ? { kind: 'from-file', target: value }
      : { kind: 'to-file', descriptor, target: value, append };
  }

  #takeSeparator(text: string): boolean {
    const token = this.#peek();
    if (token?.kind !== 'separator' || token.text !== text) return false;
    this.#next++;
    return true;
  }

  #skipLineEnds(): void {
    while (this.#takeSeparator('\n'));
  }

  #peek(): Token | undefined {
    return this.#tokens[this.#next];
  }

  #position(): number {
    return this.#peek()?.at ?? this.#end;
  }
}
