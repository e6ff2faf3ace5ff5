import type { JsonObject } from '@sallyport/contract';
import { contentHashPattern } from '../content-hash.ts';
import { noSuchContent } from '../content-failures.ts';
import type { ContentStore } from '../content-store.ts';
import type { DownloadStream, Transfers, UploadStream } from '../transfers.ts';
import { modes, modesOutsideLockdown } from '../../call/session.ts';
import type { Session } from '../../call/session.ts';
import { refuse } from '../../call/refusal.ts';
import type { Violation } from '../../call/refusal.ts';
import { ToolRefused } from '../../call/tool.ts';
import type { AnyTool } from '../../call/tool.ts';
import { mayUse } from '../../execution/open-content.ts';
import { defineOperatorTool } from '../../registry/define-operator-tool.ts';
import type { Answers, OperatorToolOptions } from '../../registry/define-operator-tool.ts';
import type { ContentRepository } from '../../storage/stores.ts';
import * as schema from '../../registry/schemas/schema.ts';

export interface ContentToolParts {
  readonly store: ContentStore;
  readonly index: Pick<ContentRepository, 'mayUseContent'>;
  /** Where the doors leave their streams. */
  readonly uploads: Transfers<UploadStream>;
  readonly downloads: Transfers<DownloadStream>;
}

/** What one tool for content or artifacts says about itself; the rest is the same for all of them. */
type ContentTool<Named extends schema.Properties, Required extends string, Given extends Answers> = Omit<
  OperatorToolOptions<Named, Required, Given>,
  'claim' | 'preview'
> & {
  /** What the schema cannot say about the arguments. Absent: nothing. */
  readonly check?: (args: schema.ValuesOf<Named, Required>) => readonly Violation[];
  /** What the call would do, in one line. */
  readonly describe: (args: schema.ValuesOf<Named, Required>) => string;
};

/** Tools for agents: unless said otherwise, everyone sees them, and a large result is kept as content. */
export function defineContentTool<
  const Named extends schema.Properties,
  const Given extends Answers,
  const Required extends string = never,
>(tool: ContentTool<Named, Required, Given>): AnyTool {
  const { name, mutates, check, describe } = tool;
  const { measureResult: _, ...defined } = defineOperatorTool<Named, Required, Given>({
    audience: 'everyone',
    tags: [name.split('.')[0] ?? '', mutates ? 'write' : 'read'],
    category: mutates ? 'system_write' : 'read_only',
    allowedModes: mutates ? modesOutsideLockdown : modes,
    ...tool,
    claim: (args) => {
      const violations = check?.(args) ?? [];
      if (violations.length === 0) return { paths: [] };
      const message = `The arguments do not match the schema of ${name}: ${violations.map((each) => each.message).join('; ')}.`;
      throw new ToolRefused(refuse('INVALID_ARGUMENTS', 'input-schema', message, { violations }));
    },
    preview: (args) => ({ summary: describe(args), undoable: false }),
  });
  return defined;
}

/** Throws NOT_FOUND, as for content that does not exist. */
export async function checkUse(index: ContentToolParts['index'], session: Session, hash: string): Promise<void> {
  if (!(await mayUse(index, session, hash))) throw noSuchContent(hash);
}

export function hashSchema(description: string) {
  return schema.string(`${description} 64 hexadecimal digits.`, { pattern: contentHashPattern });
}

/** Of content in examples: BLAKE3 of "Hello." and a line end. */
export const exampleHash = '50784d098e9bdf216f6c56dfdcd71ba6b4dc9adbe8d19dbb57074cb2649aa192';

export function bytesSchema<const More extends JsonObject>(description: string, more = {} as More) {
  return schema.integer(description, { minimum: 0, maximum: Number.MAX_SAFE_INTEGER, ...more });
}

/** No transfer takes longer; a shorter limit would cut off slow lines. */
export const transferTimeoutMs = 3_600_000;
