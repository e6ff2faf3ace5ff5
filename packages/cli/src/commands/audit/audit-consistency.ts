import { existsSync, readFileSync } from 'node:fs';
import { exitCodes } from '@sallyport/contract/codes';
import { CheckpointError, verifyConsistencyFile, writeConsistency } from '@sallyport/log';
import { openKeptLog } from '@sallyport/gateway';
import { CommandFailure, describeError, usageFailure } from '../../client/failure.ts';
import type { CommandContext } from '../../command-context.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import { writeFileAtomically } from '../../terminal/write-file-atomically.ts';
import { readVerifier } from './audit-verify.ts';

export interface AuditConsistencyOptions {
  /** A checkpoint that was kept elsewhere. */
  readonly checkpoint: string;
  readonly file: string;
}

/** Writes a proof that the log of now continues the one of an old checkpoint, for somebody who kept that. */
export function proveAuditConsistency(given: AuditConsistencyOptions, context: CommandContext): number {
  const { config, terminal, json } = context;
  const { home } = config;
  if (!existsSync(home.databaseFile)) throw usageFailure(`There is no log yet in ${home.folder}.`);
  const verifier = readVerifier(home, undefined);
  const oldNote = readNoteFile(given.checkpoint);
  const log = openKeptLog(home);
  try {
    const note = log.lastCheckpoint()?.note;
    if (note === undefined) throw usageFailure('Nothing is signed yet.', 'Try again in a second.');
    const proof = prove(() => writeConsistency({ oldNote, note, verifier, readNode: log.readNode }));
    const { intact, problem, oldSize, size } = verifyConsistencyFile(proof, { verifier });
    if (!intact) {
      throw new CommandFailure('LOG_REWRITTEN', exitCodes.toolError, problem ?? '', {
        remedy: 'Run `audit verify --checkpoint` with the same file to see what differs.',
      });
    }
    writeFileAtomically(given.file, proof);
    if (json) terminal.print(visibleJson({ file: given.file, oldSize: String(oldSize), size: String(size) }));
    else terminal.print(`${makeVisibleLine(given.file)} proves that ${size} records continue the ${oldSize} of then.`);
    return exitCodes.success;
  } finally {
    log.close();
  }
}

function prove(write: () => string): string {
  try {
    return write();
  } catch (error) {
    if (error instanceof RangeError) {
      throw new CommandFailure('LOG_REWRITTEN', exitCodes.toolError, 'The log is shorter than the checkpoint.', {
        cause: error,
      });
    }
    if (!(error instanceof CheckpointError)) throw error;
    throw usageFailure(`The checkpoint cannot be used: ${error.message}.`);
  }
}

function readNoteFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageFailure(describeError(error));
  }
}
