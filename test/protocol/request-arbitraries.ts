import { create } from '@bufbuild/protobuf';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { ToolRequestSchema, ToolResponseSchema } from '@sallyport/contract';
import type { ToolRequest, ToolResponse } from '@sallyport/contract';
import fc from 'fast-check';

type Tool = NonNullable<MessageInitShape<typeof ToolRequestSchema>['tool']>;
type Result = NonNullable<MessageInitShape<typeof ToolResponseSchema>['result']>;

export const gitOperations =
  'CLONE FETCH PULL DIFF COMMIT PUSH STATUS LOG BRANCH CHECKOUT MERGE REBASE ADD RESET STASH TAG REMOTE SHOW'.split(
    ' ',
  );

/** A text of exactly so many bytes of UTF-8, made of one character as far as that goes. */
export function textOfBytes(bytes: number, character = 'a'): string {
  const width = Buffer.byteLength(character);
  return character.repeat(Math.floor(bytes / width)) + 'a'.repeat(bytes % width);
}

const anyText = fc.string({ unit: 'binary', maxLength: 12 });

/** Short texts of all kinds, and texts whose length is close to the bound. */
function text(bound: number): fc.Arbitrary<string> {
  const near = fc
    .tuple(fc.integer({ min: bound - 2, max: bound + 2 }), fc.constantFrom('a', 'é', '€', '😀', '\ufeff', '\0'))
    .map(([bytes, character]) => textOfBytes(bytes, character));
  return fc.oneof({ weight: 4, arbitrary: anyText }, { weight: 1, arbitrary: near });
}

const path = fc.oneof(
  text(4096),
  fc
    .array(fc.constantFrom('a', '..', '.', '...', 'a..b', '..a', '', ' ', '\0', 'é', '..\0'), { maxLength: 5 })
    .map((components) => components.join('/')),
);

function uint64(bound: bigint): fc.Arbitrary<bigint> {
  return fc.oneof(fc.constantFrom(0n, bound - 1n, bound, bound + 1n), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }));
}

const hash = fc.oneof(fc.uint8Array({ minLength: 32, maxLength: 32 }), fc.uint8Array({ minLength: 0, maxLength: 34 }));
const entry = fc.oneof(fc.constantFrom('A=1', 'A=', '=', 'A', 'A=B=C', ''), anyText, text(32_768));
const list = (item: fc.Arbitrary<string>): fc.Arbitrary<string[]> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.array(item, { maxLength: 6 }) },
    { weight: 1, arbitrary: fc.integer({ min: 999, max: 1002 }).map((length) => Array<string>(length).fill('A=1')) },
  );

const tool: fc.Arbitrary<Tool> = fc.oneof(
  fc.constant({ case: undefined }),
  fc
    .record({ path, offset: uint64(2n ** 53n - 1n), limit: uint64(2n ** 30n) })
    .map((value) => ({ case: 'fileRead' as const, value })),
  fc
    .record({ path, content: fc.uint8Array({ maxLength: 200 }), createOnly: fc.boolean(), append: fc.boolean() })
    .map((value) => ({ case: 'fileWrite' as const, value })),
  fc.record({ path, oldContent: anyText, newContent: anyText }).map((value) => ({ case: 'fileEdit' as const, value })),
  fc
    .record({
      command: anyText,
      cwd: text(4096),
      timeoutMs: uint64(3_600_000n),
      networkAccess: fc.boolean(),
      env: list(entry),
    })
    .map((value) => ({ case: 'shellExec' as const, value })),
  fc
    .record({
      operation: fc.oneof(fc.constantFrom(...gitOperations, 'push', 'GC', ''), anyText),
      args: list(text(32_768)),
      cwd: text(4096),
    })
    .map((value) => ({ case: 'gitOp' as const, value })),
  fc
    .record({
      provider: text(256),
      model: text(256),
      promptHash: hash,
      maxTokens: uint64(1_000_000n),
      temperatureScaled: fc.nat(),
      systemPromptHash: hash,
    })
    .map((value) => ({ case: 'inference' as const, value })),
  fc
    .record({ artifactId: text(256), contentHash: hash, category: text(256), metadata: list(entry) })
    .map((value) => ({ case: 'artifactPublish' as const, value })),
);

/** Requests that are valid and requests that are not, many of them close to a bound. */
export const toolRequests: fc.Arbitrary<ToolRequest> = fc
  .record({ requestId: text(256), sessionToken: text(256), dedupeKey: text(256), tool })
  .map((fields) => create(ToolRequestSchema, fields));

const anyUint64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

const result: fc.Arbitrary<Result> = fc.oneof(
  fc
    .record({
      resultHash: hash,
      inlineResult: fc.uint8Array({ maxLength: 100 }),
      budgetConsumed: anyUint64,
      durationMs: anyUint64,
    })
    .map((value) => ({ case: 'success' as const, value })),
  fc
    .record({
      ruleId: anyText,
      rationaleCode: anyText,
      message: anyText,
      remedy: anyText,
      violations: fc.array(fc.record({ field: anyText, rule: anyText, message: anyText }), { maxLength: 3 }),
    })
    .map((value) => ({ case: 'denied' as const, value })),
  fc
    .record({ errorCode: anyText, message: anyText, retryable: fc.boolean(), retryAfterMs: anyUint64 })
    .map((value) => ({ case: 'error' as const, value })),
);

export const toolResponses: fc.Arbitrary<ToolResponse> = fc
  .record({ requestId: text(256), result })
  .map((fields) => create(ToolResponseSchema, fields));
