import { stdin, stdout } from 'node:process';
import type { Readable } from 'node:stream';
import { exitCodes } from '@sallyport/contract/codes';
import { ContentHasher, isContentHash } from '@sallyport/gateway';
import { outputOf, statusOf } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import type { DaemonClient } from '../../client/daemon-client.ts';
import { command, parsed, parseHours, text, word } from '../../command-table.ts';
import { usageFailure } from '../../client/failure.ts';
import { spellBytes } from '@sallyport/contract';
import type { CollectedContent, ContentReport, InJson } from '@sallyport/contract';
import { notWhatWasAsked, ReceivingFile } from './receiving-file.ts';
import { operatorCommand } from '../../client/run-tool.ts';
import { SendingFile } from './sending-file.ts';
import { showAnswer } from '../../client/show-answer.ts';
import { renderFields } from '../../terminal/table.ts';
import { receiveContent, sendContent } from './transfer-content.ts';
import type { Declaration, OnProgress, Sent } from './transfer-content.ts';
import { visibleJson } from '../../terminal/visible-text.ts';

/** Whether a smaller file was sent before is not worth a question. */
const resumableBytes = 4 * 1024 * 1024;

export const contentCommands = [
  command('put', {
    help: 'store a file, or standard input for -, and print its hash',
    arguments: { file: word('file', { completes: 'files' }) },
    run: (given, context) => putContent(given.file, context),
  }),
  command('get', {
    help: 'write content to a file or to a pipe',
    arguments: { hash: word('hash') },
    options: {
      output: text('file', 'the file to write; an interrupted download continues', { short: 'o', completes: 'files' }),
    },
    run: getContent,
  }),
  // Exits with an error when something is damaged or gone.
  operatorCommand('verify', {
    help: 'read all stored content and report what is damaged',
    tool: 'content.verify',
    print: showReport,
    exitCodeOf: (report) => (isWhole(report) ? exitCodes.success : exitCodes.toolError),
  }),
  operatorCommand('gc', {
    help: 'remove content that nothing references and nobody has used for some time',
    options: {
      olderThanHours: parsed('number', 'remove only content that was not used for this long', parseHours),
    },
    tool: 'content.gc',
    print: ({ removed, freedBytes, kept }: InJson<CollectedContent>, { terminal }) =>
      terminal.print(`${removed} contents removed, ${spellBytes(Number(freedBytes))} freed; ${kept} stay.`),
  }),
];

/** Stores a file, or standard input when it is named `-`. Goes on with an upload that was broken off. */
async function putContent(file: string, context: CommandContext): Promise<number> {
  const client = context.openClient();
  const sent = file === '-' ? await send(client, stdin, {}, context) : await putFile(file, client, context);
  if (statusOf(sent.answer) !== 'success') return showAnswer(sent.answer, context);
  showStored(sent, context);
  return exitCodes.success;
}

async function putFile(path: string, client: DaemonClient, context: CommandContext): Promise<Sent> {
  await using file = await SendingFile.open(path, progressOf('Reading', context));
  const { hash, sizeBytes } = file;
  const declared = { hash, sizeBytes };
  if (sizeBytes < resumableBytes) return await send(client, file.readFrom(0), declared, context);
  const answer = await client.executeTool({ name: 'content.stat', inputJson: JSON.stringify({ hash }) });
  const { stored = false, received = 0 } = (outputOf(answer) ?? {}) as { stored?: boolean; received?: number };
  if (stored) return { ...declared, answer };
  return await send(client, file.readFrom(received), { ...declared, offset: received }, context);
}

async function send(
  client: DaemonClient,
  source: Readable,
  declared: Declaration,
  context: CommandContext,
): Promise<Sent> {
  const onProgress = progressOf('Sending', context);
  try {
    return await client.stream((target) => sendContent(target, source, declared, onProgress));
  } finally {
    context.terminal.progress('');
  }
}

function showStored({ hash, sizeBytes }: Sent, { json, terminal }: CommandContext): void {
  if (json) terminal.print(visibleJson({ hash, size: sizeBytes }));
  else terminal.print(hash);
  if (!json && terminal.showsProgress) terminal.note(`${spellBytes(sizeBytes)} stored.`);
}

/** Writes content to a file, or to standard output. Goes on with a download that was broken off. */
async function getContent(
  { hash, output }: { readonly hash: string; readonly output?: string },
  context: CommandContext,
): Promise<number> {
  if (!isContentHash(hash)) throw usageFailure('A hash has 64 hexadecimal digits in lower case.');
  if (output === undefined) return printContent(hash, context);
  const client = context.openClient();
  const onProgress = progressOf('Receiving', context);
  await using file = await ReceivingFile.open(output);
  const write = (bytes: Uint8Array): Promise<void> => file.write(bytes);
  try {
    const answer = await client.stream((target) => receiveContent(target, hash, file.sizeBytes, write, onProgress));
    if (statusOf(answer) !== 'success') return showAnswer(answer, context);
    await file.finish(hash);
  } finally {
    context.terminal.progress('');
  }
  if (context.json) context.terminal.print(visibleJson({ hash, size: file.sizeBytes, file: output }));
  else context.terminal.note(`${spellBytes(file.sizeBytes)} received.`);
  return exitCodes.success;
}

async function printContent(hash: string, context: CommandContext): Promise<number> {
  if (context.json) throw usageFailure('With --json the bytes have to go to a file.', 'Add --output FILE.');
  // Bytes from outside could do anything to a terminal.
  if (stdout.isTTY) throw usageFailure('The bytes are not printed to a terminal.', 'Add --output FILE, or use a pipe.');
  const client = context.openClient();
  const hasher = new ContentHasher();
  const write = (bytes: Uint8Array): Promise<void> => {
    hasher.add(bytes);
    return new Promise((resolve) => (stdout.write(bytes) ? resolve() : void stdout.once('drain', resolve)));
  };
  const onProgress = progressOf('Receiving', context);
  try {
    const answer = await client.stream((target) => receiveContent(target, hash, 0, write, onProgress));
    if (statusOf(answer) !== 'success') return showAnswer(answer, context);
  } finally {
    context.terminal.progress('');
  }
  if (hasher.digest() !== hash) throw notWhatWasAsked();
  return exitCodes.success;
}

const isWhole = ({ corruptedCount, missingCount }: InJson<ContentReport>) => corruptedCount + missingCount === 0;

function showReport(report: InJson<ContentReport>, { terminal }: CommandContext): void {
  const { print, columns, paint } = terminal;
  const { checked, checkedBytes, corrupted, missing } = report;
  print(
    isWhole(report) ? paint('green', 'All content is intact.') : paint('red', 'Some content is damaged or missing.'),
  );
  const fields: [string, string][] = [
    ['read', `${checked} contents, ${spellBytes(Number(checkedBytes))}`],
    ['damaged', corrupted.join('\n')],
    ['gone', missing.join('\n')],
  ];
  print(...renderFields(fields, columns));
  if (!isWhole(report)) print('Store the same content again to repair it.');
}

function progressOf(verb: string, { json, terminal }: CommandContext): OnProgress {
  if (json || !terminal.showsProgress) return () => undefined;
  return (bytes, total) =>
    terminal.progress(`${verb}: ${spellBytes(bytes)}${total === undefined ? '' : ` of ${spellBytes(total)}`}`);
}
