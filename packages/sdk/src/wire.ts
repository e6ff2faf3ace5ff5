import type { ApprovalNeed, CallFacts, CallProgress, CallResult, Usage, Violation } from './call-result.ts';
import type { Json, JsonObject } from './json.ts';

/** Messages as proto3 spells them in JSON: fields with their default value are absent, 64-bit numbers are strings. */
export interface ExecuteToolResponseJson {
  readonly requestId?: string;
  readonly callId?: string;
  readonly traceId?: string;
  readonly tool?: string;
  readonly durationMs?: string;
  readonly usage?: Readonly<Partial<Record<keyof Usage, string | number>>>;
  readonly warnings?: readonly string[];
  /** The hash is in base64. */
  readonly success?: { readonly outputJson?: string; readonly resultHash?: string; readonly resultSize?: string };
  readonly denied?: {
    readonly ruleId?: string;
    readonly rationaleCode?: string;
    readonly message?: string;
    readonly remedy?: string;
    readonly violations?: readonly Partial<Violation>[];
    readonly approval?: ApprovalNeedJson;
  };
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly retryable?: boolean;
    readonly retryAfterMs?: string;
    readonly category?: string;
  };
}

interface ApprovalNeedJson {
  readonly binding?: string;
  readonly effect?: string;
  readonly taskId?: string;
  readonly status?: string;
  readonly expiresAtMs?: string;
  readonly link?: string;
}

/** Progress, whether the call waits for a person, and as the last message the response. */
export interface ExecuteToolStreamResponseJson {
  readonly progress?: ProgressJson;
  readonly pending?: Pick<ApprovalNeedJson, 'taskId' | 'link'>;
  readonly response?: ExecuteToolResponseJson;
}

interface ProgressJson {
  readonly stderr?: string;
  readonly done?: string;
  readonly total?: string;
  readonly message?: string;
}

/** Chunks in base64, and as the last message how the call ended. */
export interface GetContentResponseJson {
  readonly chunk?: string;
  readonly outcome?: ExecuteToolResponseJson;
}

export interface ListToolsJson {
  readonly tools?: readonly ToolDescriptorJson[];
}

export interface GetToolJson {
  readonly tool?: ToolDescriptorJson;
}

export interface ToolDescriptorJson {
  readonly name?: string;
  readonly aliases?: readonly string[];
  readonly version?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly category?: string;
  readonly risk?: string;
  readonly confirmation?: string;
  readonly mutates?: boolean;
  readonly idempotent?: boolean;
  readonly timeoutMs?: number;
  readonly status?: string;
  readonly inputSchemaJson?: string;
  readonly outputSchemaJson?: string;
  readonly origin?: string;
  readonly statusReason?: string;
}

/** A tool as the gate describes it. */
export interface ToolInfo {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly version: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly category: string;
  readonly risk: string;
  readonly confirmation: string;
  readonly mutates: boolean;
  readonly idempotent: boolean;
  readonly timeoutMs: number;
  /** Such as `ready`. Whether a call passes, the rules say. */
  readonly status: string;
  /** Why it cannot be called as it is. Empty when it can. */
  readonly statusReason: string;
  /** `builtin`, `executable`, `configured`, `pipeline` or `upstream`. */
  readonly origin: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
}

export function readResult(answer: ExecuteToolResponseJson): CallResult {
  const facts = readFacts(answer);
  const { success, denied, error } = answer;
  if (success?.resultHash) {
    const hash = Buffer.from(success.resultHash, 'base64').toString('hex');
    return { ...facts, status: 'stored', hash, sizeBytes: Number(success.resultSize ?? 0) };
  }
  if (success !== undefined) {
    return { ...facts, status: 'success', output: JSON.parse(success.outputJson || 'null') as Json };
  }
  if (denied !== undefined) return readDenied(denied, facts);
  const retryAfterMs = Number(error?.retryAfterMs ?? 0);
  return {
    ...facts,
    status: 'error',
    code: error?.code ?? 'UNKNOWN',
    message: error?.message ?? 'The gate gave no result.',
    retryable: error?.retryable ?? false,
    ...(retryAfterMs === 0 ? {} : { retryAfterMs }),
    category: error?.category ?? 'execution_error',
  };
}

function readDenied(denied: NonNullable<ExecuteToolResponseJson['denied']>, facts: CallFacts): CallResult {
  const refusal = {
    ...facts,
    code: denied.rationaleCode ?? '',
    rule: denied.ruleId ?? '',
    message: denied.message ?? '',
    ...(denied.remedy ? { remedy: denied.remedy } : {}),
    violations: (denied.violations ?? []).map(({ field = '', rule = '', message = '' }) => ({ field, rule, message })),
  };
  if (refusal.code !== 'APPROVAL_REQUIRED') return { ...refusal, status: 'denied' };
  const { approval } = denied;
  return {
    ...refusal,
    status: 'pending_approval',
    ...(approval === undefined ? {} : { approval: readApproval(approval) }),
  };
}

function readApproval(need: ApprovalNeedJson): ApprovalNeed {
  const { taskId = '', status = '', binding = '', effect = '', link = '', expiresAtMs } = need;
  const expiry = expiresAtMs === undefined ? {} : { expiresAt: new Date(Number(expiresAtMs)) };
  return { taskId, status, binding, effect, link, ...expiry };
}

function readFacts(answer: ExecuteToolResponseJson): CallFacts {
  return {
    requestId: answer.requestId ?? '',
    callId: answer.callId ?? '',
    traceId: answer.traceId ?? '',
    tool: answer.tool ?? '',
    durationMs: Number(answer.durationMs ?? 0),
    warnings: answer.warnings ?? [],
    ...(answer.usage === undefined ? {} : { usage: readUsage(answer.usage) }),
  };
}

function readUsage({ measuredBy, ...counts }: NonNullable<ExecuteToolResponseJson['usage']>): Usage {
  const numbers = Object.entries(counts).map(([name, value]) => [name, Number(value)] as const);
  return { ...Object.fromEntries(numbers), ...(typeof measuredBy === 'string' ? { measuredBy } : {}) };
}

export function readProgress({ stderr, message = '', done = '0', total }: ProgressJson): CallProgress {
  if (stderr !== undefined) return { kind: 'stderr', text: stderr };
  return { kind: 'step', message, done: Number(done), ...(total === undefined ? {} : { total: Number(total) }) };
}

export function readTool(tool: ToolDescriptorJson): ToolInfo {
  return {
    name: tool.name ?? '',
    aliases: tool.aliases ?? [],
    version: tool.version ?? '',
    description: tool.description ?? '',
    tags: tool.tags ?? [],
    category: tool.category ?? '',
    risk: tool.risk ?? '',
    confirmation: tool.confirmation ?? '',
    mutates: tool.mutates ?? false,
    idempotent: tool.idempotent ?? false,
    timeoutMs: tool.timeoutMs ?? 0,
    status: tool.status ?? '',
    statusReason: tool.statusReason ?? '',
    origin: tool.origin ?? '',
    inputSchema: JSON.parse(tool.inputSchemaJson || '{}') as JsonObject,
    outputSchema: JSON.parse(tool.outputSchemaJson || '{}') as JsonObject,
  };
}
