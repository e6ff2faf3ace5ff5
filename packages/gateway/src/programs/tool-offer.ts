import type { JsonObject } from '@sallyport/contract';
import type { AnyTool } from '../call/tool.ts';
import type { StartTrouble } from './executables.ts';
import type { SkippedFile } from './find-tool-files.ts';

/** A tool that somebody put there. Whether it may be called is decided elsewhere. */
export interface ToolOffer {
  readonly origin: 'executable' | 'configured' | 'pipeline' | 'upstream';
  /** Where it comes from, for people. */
  readonly file: string;
  readonly tool: AnyTool;
  /** As in ToolPin. */
  readonly fileSha256: string;
  readonly definitionSha256: string;
  /** Everything that a person should see before accepting it. */
  readonly detail: JsonObject;
  /** Absent: all is well. */
  readonly trouble?: StartTrouble;
}

export interface OfferedTools {
  readonly offers: readonly ToolOffer[];
  readonly skipped: readonly SkippedFile[];
  /** Something is being written. Look again soon. */
  readonly isUnsettled: boolean;
}

/** A place that tools come from. Looked at again and again, by one caller at a time. */
export interface ToolSource {
  readonly list: (signal: AbortSignal) => Promise<OfferedTools>;
}
