import { setTimeout as pause } from 'node:timers/promises';
import { makeVisible, spellCount } from '@sallyport/contract';
import type { Program } from '@sallyport/sandbox';
import { ToolFailure } from '../../call/tool.ts';
import type { AnyTool, ToolContext } from '../../call/tool.ts';
import { runProgram } from '../../programs/run/run-program.ts';
import type { ProgramOutput } from '../../programs/run/run-program.ts';
import { defineTool, looksAt } from '../define-tool.ts';
import { withDeadline } from '../shell/with-deadline.ts';
import { requireProgram } from './desktop-session.ts';
import type { DesktopEnvironment } from './desktop-session.ts';
import { displayProgram } from './display-program.ts';
import { failureOfProgram, hasSucceeded, mostHeard } from './failure-of-program.ts';
import * as schema from '../../registry/schemas/schema.ts';

const mostBytes = 1024 * 1024;
const answersWithinMs = 8000;
const takesOverMs = 5000;
const looksAgainMs = 20;

/** The clipboard of the display that the daemon was started at. One for each daemon. */
export function clipboardTools(environment: DesktopEnvironment): readonly AnyTool[] {
  const xclip = (words: readonly string[], text = ''): Program => {
    const argv = [requireProgram('/usr/bin/xclip', 'xclip'), '-selection', 'clipboard', ...words] as const;
    return displayProgram({ argv, stdin: Buffer.from(text) }, environment);
  };
  const readText = (context: ToolContext): Promise<ProgramOutput> =>
    // An application that owns the clipboard and does not answer must not keep the call.
    withDeadline(answersWithinMs, context, (timed) =>
      runProgram(xclip(['-out', '-target', 'UTF8_STRING']), timed, { inlineBytes: mostBytes, isLooking: true }),
    );
  const holding = new HeldText((text) => xclip(['-in', '-quiet'], text));

  const read = defineTool({
    name: 'clipboard.read',
    aliases: ['clipboard_read'],
    description: 'Read the text in the clipboard of the desktop. It may hold whatever the person copied last.',
    tags: ['desktop'],
    risk: 'medium',
    confirmation: 'always',
    scopes: ['apps'],
    requiresSandbox: true,
    timeoutMs: 10_000,
    examples: [{}],
    inputSchema: schema.object({}),
    outputSchema: schema.object({ text: schema.string('The text, at most 1 MB.') }),
    claim: () => ({ paths: [], apps: ['clipboard'] }),
    preview: () => {
      xclip([]);
      return looksAt('Read the clipboard.');
    },
    run: async (_args, context) => {
      const output = await readText(context);
      if (!hasSucceeded(output)) {
        const complaint = output.stderr.bytes.toString();
        if (!/target \w+ not available/.test(complaint)) {
          throw failureOfProgram('The clipboard cannot be read', complaint, context);
        }
        throw new ToolFailure('NOT_FOUND', 'The clipboard holds no text.');
      }
      if (output.stdout.truncated) throw new ToolFailure('TOO_LARGE', 'The clipboard holds more than 1 MB of text.');
      return { text: output.stdout.bytes.toString() };
    },
    summarize: (_, { text }) => `${spellCount(text.length, 'character')} read`,
  });

  const write = defineTool({
    name: 'clipboard.write',
    aliases: ['clipboard_write'],
    description:
      'Put text into the clipboard of the desktop. It stays until something else is copied or the gate ends.',
    tags: ['desktop'],
    risk: 'medium',
    mutates: true,
    scopes: ['apps'],
    requiresSandbox: true,
    timeoutMs: 15_000,
    examples: [{ text: 'See you on Monday.' }],
    inputSchema: schema.object({
      text: schema.string('The text, at most 1 MB.', { minLength: 1, maxLength: mostBytes }),
    }),
    outputSchema: schema.object({
      characters: schema.integer('How many were put there.', { minimum: 1 }),
    }),
    claim: () => ({ paths: [], apps: ['clipboard'] }),
    preview: ({ text }) => {
      xclip([]);
      const summary = `Put ${spellCount(text.length, 'character')} into the clipboard.`;
      return { summary, detail: `${makeVisible(text)}\n`, undoable: false };
    },
    run: async ({ text }, context) => {
      context.noteEffect();
      const holder = holding.hold(text, context);
      const deadline = Date.now() + takesOverMs;
      for (;;) {
        const output = await readText(context);
        if (hasSucceeded(output) && output.stdout.bytes.toString() === text) return { characters: text.length };
        if (holder.complaint !== undefined) {
          throw failureOfProgram('The clipboard cannot be written', holder.complaint, context);
        }
        if (Date.now() > deadline) throw new ToolFailure('TIMEOUT', 'The clipboard did not take the text.');
        await pause(looksAgainMs, undefined, { signal: context.signal });
      }
    },
    summarize: (_, { characters }) => `${spellCount(characters, 'character')} written`,
  });
  return [read, write];
}

/** On an X display, a text is in the clipboard while a program offers it. That one outlives the call that started it. */
class HeldText {
  readonly #programFor: (text: string) => Program;
  #release = new AbortController();

  constructor(programFor: (text: string) => Program) {
    this.#programFor = programFor;
  }

  /** `complaint` is there once the program has ended by itself: something else was copied, or it could not start. */
  hold(text: string, { programs }: Pick<ToolContext, 'programs'>): { readonly complaint: string | undefined } {
    const program = this.#programFor(text);
    this.#release.abort();
    this.#release = new AbortController();
    const holder: { complaint: string | undefined } = { complaint: undefined };
    let said = '';
    const heard = (chunk: Uint8Array): void =>
      void (said = `${said}${Buffer.from(chunk).toString()}`.slice(-mostHeard));
    programs.run(program, { signal: this.#release.signal, onStdout: () => undefined, onStderr: heard }).then(
      () => (holder.complaint = said),
      (error: unknown) => (holder.complaint = error instanceof Error ? error.message : 'it did not start'),
    );
    return holder;
  }
}
