import { lstatSync, readFileSync, realpathSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { basename, dirname, extname, join } from 'node:path';
import { isJsonObject } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import { defaultProgramLimits, runtimeFolder } from '@sallyport/sandbox';
import type { Mount } from '@sallyport/sandbox';
import { ToolFailure, ToolRefused } from '../../call/tool.ts';
import type { ToolContext } from '../../call/tool.ts';
import { cutText } from '../../call/redacted.ts';
import { openFile } from '../../paths/open-path.ts';
import { attendTo } from '../../programs/run/attend-to.ts';
import { unattended, viewFor } from '../../programs/run/mounts-for.ts';
import type { ProgramView } from '../../programs/run/mounts-for.ts';
import { runProgram } from '../../programs/run/run-program.ts';
import { failureFrom } from '../files/failure-from.ts';
import { withDeadline } from '../shell/with-deadline.ts';
import { maxAnswerBytes } from './database-answer.ts';
import type { DatabaseAnswer, DatabaseQuestion } from './database-answer.ts';

/** Where the program sees a database that it may only read. */
const shownFolder = '/database';
/** What SQLite keeps beside a database. */
const companions = ['-wal', '-shm', '-journal'];
const maxOutputBytes = 2 * maxAnswerBytes;
let program: string | undefined;

/**
 * Runs one statement on a SQLite file, in the sandbox. Who reads sees the file and what SQLite keeps beside it through a
 * mount that cannot be written to; who changes it sees its folder, as the rules show it to programs. `file`: absolute.
 */
export async function runSqlite(
  file: string,
  question: DatabaseQuestion,
  context: ToolContext,
): Promise<DatabaseAnswer> {
  const { access, timeoutMs } = question;
  const real = resolveFile(file, access, context);
  const run = async (timed: ToolContext): Promise<DatabaseAnswer> => {
    const view = access === 'read' ? showFile(real, context) : await showFolder(real, timed);
    const seenAs = access === 'read' ? join(shownFolder, basename(real)) : real;
    const given = { ...question, file: seenAs, maxBytes: maxAnswerBytes, waitMs: Math.ceil(timeoutMs / 2) };
    const confined = {
      argv: [`${runtimeFolder}/bin/node`, '--no-warnings', '--input-type=module', '--eval', readProgram()] as const,
      environment: {},
      workingDirectory: '/tmp',
      stdin: Buffer.from(JSON.stringify(given)),
      mounts: view.mounts,
      hosts: [],
      limits: { ...defaultProgramLimits, ...context.grants.limits, outputBytes: maxOutputBytes },
      isolation: 'sandbox' as const,
    };
    const isLooking = access === 'read';
    const start = () => runProgram(confined, timed, { inlineBytes: maxOutputBytes, isLooking });
    const { value: output } = await attendTo(view, context, start);
    const parsed = parseAnswer(output.stdout.bytes.toString('utf8'));
    if (parsed !== undefined && !('error' in parsed)) return parsed;
    const reason = parsed?.error ?? 'SQLite ended without an answer.';
    throw new ToolFailure('EXECUTION_ERROR', `The database says: ${cutText(context.redact(reason), 500)}`);
  };
  return withDeadline(timeoutMs, context, run, 'The statement');
}

/** As the file tools open it: judged by its real path, and refused when it has a second name. */
function resolveFile(file: string, access: 'read' | 'write', context: ToolContext): string {
  try {
    using _ = openFile({ given: file, path: file }, context);
    const real = realpathSync.native(file);
    const refusal = context.paths.judge(real, access);
    if (refusal !== undefined) throw new ToolRefused(refusal);
    return real;
  } catch (error) {
    throw failureFrom(error, file);
  }
}

function showFile(real: string, { paths }: ToolContext): ProgramView {
  const beside = companions.map((suffix) => real + suffix).filter((path) => isFile(path));
  const refusal = beside.map((path) => paths.judge(path, 'read')).find((each) => each !== undefined);
  if (refusal !== undefined) throw new ToolRefused(refusal);
  const mounts = [real, ...beside].map((source): Mount => {
    return { source, target: join(shownFolder, basename(source)), access: 'read' };
  });
  return { ...unattended, mounts };
}

function showFolder(real: string, context: ToolContext): Promise<ProgramView> {
  return viewFor(context, { folders: [{ path: dirname(real), access: 'write' }] });
}

function isFile(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
}

/** It is beside this file, in the sources and in a build. */
function readProgram(): string {
  if (program !== undefined) return program;
  const extension = extname(import.meta.filename);
  const text = readFileSync(join(import.meta.dirname, `sqlite-program${extension}`), 'utf8');
  program = extension === '.ts' ? stripTypeScriptTypes(text) : text;
  return program;
}

function parseAnswer(text: string): DatabaseAnswer | { readonly error: string } | undefined {
  try {
    const value = JSON.parse(text) as Json;
    return isJsonObject(value) ? (value as unknown as DatabaseAnswer) : undefined;
  } catch {
    return undefined;
  }
}
