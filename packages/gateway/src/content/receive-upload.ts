import { spellBytes } from '@sallyport/contract';
import { statfs } from 'node:fs/promises';
import { ToolFailure } from '../call/tool.ts';
import { contentMismatch, diskFull } from './content-failures.ts';
import type { ContentFiles } from './content-files.ts';
import type { PartialUpload, PartialUploads } from './partial-uploads.ts';
import { receiveChunks, UploadInterrupted } from './receive-chunks.ts';
import type { ChunkSource } from './receive-chunks.ts';
import { StagedFile } from './staged-file.ts';

export interface Upload {
  readonly sessionId: string;
  readonly source: ChunkSource;
  /** What the bytes must have. With it, an upload that breaks off can be continued. Absent: any bytes are accepted. */
  readonly hash?: string;
  readonly sizeBytes?: number;
  /** Where the source begins. Only with `hash`, and not beyond what an earlier attempt left. Absent: at the start. */
  readonly offset?: number;
  readonly signal: AbortSignal;
  /** Called with the number of bytes so far. */
  readonly onReceived?: (bytes: number) => void;
}

export interface UploadLimits {
  /** Uploads stop before the disk has less than this left: the log is on it, too. */
  readonly keepFreeBytes: number;
  readonly maxContentBytes: number;
  /** How long an upload may be silent. */
  readonly idleMs: number;
}

export interface ReceivedUpload {
  readonly hash: string;
  readonly sizeBytes: number;
}

/**
 * Receives an upload and hands it to `place` once it is complete, synced, and as declared. Leaves nothing behind,
 * except after an interruption of an upload with a declared hash: then what came can be continued.
 */
export async function receiveUpload(
  upload: Upload,
  parts: { readonly files: ContentFiles; readonly partials: PartialUploads; readonly limits: UploadLimits },
  place: (path: string, received: ReceivedUpload) => Promise<void>,
): Promise<ReceivedUpload> {
  const { files, limits } = parts;
  const partial = await claimPartial(upload, parts.partials);
  try {
    const staged = await openStaged(upload, partial, files, limits);
    try {
      const received = await fill(staged, upload, limits);
      await place(staged.path, received);
      return received;
    } catch (error) {
      if (error instanceof UploadInterrupted) throw await endInterrupted(staged, error, partial !== undefined);
      await staged.discard();
      throw error;
    }
  } finally {
    partial?.release();
  }
}

/** Undefined for an upload that cannot be continued later: without a hash, or beside another one of the same. */
async function claimPartial(
  { sessionId, hash, offset = 0 }: Upload,
  partials: PartialUploads,
): Promise<PartialUpload | undefined> {
  const partial = hash === undefined ? undefined : await partials.claim(sessionId, hash);
  const receivedBytes = partial?.receivedBytes ?? 0;
  if (offset <= receivedBytes) return partial;
  partial?.release();
  if (hash !== undefined && partial === undefined) {
    throw new ToolFailure('TOO_MANY_CALLS', 'This upload is still being received on another connection. Try again.');
  }
  const message = `The upload cannot continue at ${offset}: ${receivedBytes} bytes have arrived. Continue there.`;
  throw new ToolFailure('INVALID_ARGUMENTS', message);
}

async function openStaged(
  { offset = 0, sizeBytes = offset, signal }: Upload,
  partial: PartialUpload | undefined,
  files: ContentFiles,
  limits: UploadLimits,
): Promise<StagedFile> {
  if (sizeBytes > limits.maxContentBytes) throw tooLarge(limits);
  const checkSpace = async (bytes: number): Promise<void> => {
    const { bavail, bsize } = await statfs(files.folder);
    if (bavail * bsize - bytes < limits.keepFreeBytes) throw diskFull();
  };
  await checkSpace(sizeBytes - offset);
  if (partial === undefined || offset === 0) {
    return StagedFile.create(partial?.path ?? files.newStagingPath(), checkSpace);
  }
  const resumed = await StagedFile.resume(partial.path, offset, checkSpace, signal);
  if (resumed !== undefined) return resumed;
  throw new ToolFailure(
    'FILE_CHANGED',
    'The partial upload of an earlier attempt is gone. Start again from the beginning.',
  );
}

async function fill(staged: StagedFile, upload: Upload, limits: UploadLimits): Promise<ReceivedUpload> {
  const { source, signal, sizeBytes: declaredBytes, hash: declaredHash } = upload;
  for await (const chunk of receiveChunks(source, { signal, idleMs: limits.idleMs })) {
    const bytes = staged.receivedBytes + chunk.length;
    if (bytes > limits.maxContentBytes) throw tooLarge(limits);
    if (declaredBytes !== undefined && bytes > declaredBytes) {
      throw contentMismatch(`More than the declared ${declaredBytes} bytes were sent.`);
    }
    await staged.add(chunk);
    upload.onReceived?.(bytes);
  }
  if (declaredBytes !== undefined && staged.receivedBytes < declaredBytes) {
    const message = `The upload ended after ${staged.receivedBytes} of ${declaredBytes} bytes.`;
    throw new UploadInterrupted(new ToolFailure('CANCELLED', message));
  }
  const received = await staged.finish();
  if (declaredHash !== undefined && received.hash !== declaredHash) {
    throw contentMismatch(`The bytes sent have the hash ${received.hash}, not the declared ${declaredHash}.`);
  }
  return received;
}

/** Keeps the received bytes if the upload can be continued, and returns the failure for the caller. */
async function endInterrupted(
  staged: StagedFile,
  { failure }: UploadInterrupted,
  isResumable: boolean,
): Promise<ToolFailure> {
  const { code, message, forOperators } = failure;
  if (isResumable && staged.receivedBytes > 0) {
    try {
      await staged.keep();
      const advice = `${staged.receivedBytes} bytes of it are kept for an hour; continue at that offset.`;
      return new ToolFailure(code, `${message} ${advice}`, {
        cause: failure,
        ...(forOperators === undefined ? {} : { forOperators }),
      });
    } catch {
      // It cannot be kept; the failure is the interruption all the same.
    }
  }
  await staged.discard();
  return failure;
}

function tooLarge({ maxContentBytes }: UploadLimits): ToolFailure {
  return new ToolFailure('TOO_LARGE', `Content may have at most ${spellBytes(maxContentBytes)}.`);
}
