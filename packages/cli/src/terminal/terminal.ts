import { styleText } from 'node:util';
import { makeVisible } from './visible-text.ts';

export type Tone = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'inverse';

/** Where a command writes. */
export interface Terminal {
  /** Columns to fit into. Infinity when nobody looks: a pipe or a file gets every word. */
  readonly columns: number;
  readonly rows: number;
  /** A person is there to read and to answer. */
  readonly interactive: boolean;
  /** Errors go to a terminal too, so that progress can be shown there. */
  readonly showsProgress: boolean;
  /** Results. */
  readonly print: (...lines: readonly string[]) => void;
  /** Everything else: refusals, errors, notes. */
  readonly note: (...lines: readonly string[]) => void;
  /** The same for text that brings its own line ends. */
  readonly noteText: (text: string) => void;
  /** Overwrites one line, until an empty text removes it. */
  readonly progress: (text: string) => void;
  /** Plain text unless there is a terminal that takes colours and NO_COLOR is not set. */
  readonly paint: (tone: Tone, text: string) => string;
  readonly paintNote: (tone: Tone, text: string) => string;
  /** For a daemon: it goes on when nobody reads any more what it prints, such as after its terminal was closed. */
  readonly outliveReaders: () => void;
  /** Text from outside: control characters spelled out, set off where colours can do that. */
  readonly untrusted: (text: string) => string;
}

const widest = 120;
const fewestColumns = 40;

export function openTerminal(): Terminal {
  const { stdin, stdout, stderr } = process;
  let needsReaders = true;
  for (const stream of [stdout, stderr]) {
    // `sallyport … | head` closes the pipe early; that is no error.
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (needsReaders) process.exit(error.code === 'EPIPE' ? 0 : 1);
    });
  }
  const paint = (tone: Tone, text: string): string => styleText(tone, text, { stream: stdout });
  return {
    columns: stdout.isTTY ? Math.min(widest, Math.max(fewestColumns, stdout.columns || 80)) : Infinity,
    rows: (stdout.isTTY && stdout.rows) || 24,
    interactive: stdin.isTTY && stdout.isTTY,
    showsProgress: stderr.isTTY,
    print: (...lines) => void stdout.write(`${lines.join('\n')}\n`),
    note: (...lines) => void stderr.write(`${lines.join('\n')}\n`),
    noteText: (text) => void stderr.write(text),
    progress: (text) => void (stderr.isTTY && stderr.write(`\r\u001b[K${text}`)),
    outliveReaders: () => (needsReaders = false),
    paint,
    paintNote: (tone, text) => styleText(tone, text, { stream: stderr }),
    untrusted: (text) => makeVisible(text, (escape) => paint('inverse', escape)),
  };
}
