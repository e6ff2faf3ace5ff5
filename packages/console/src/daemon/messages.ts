// What the daemon says, with every field present. JSON leaves out fields that have their default value.

export type Risk = 'low' | 'medium' | 'high' | 'critical';

const noMasked = { number: 0, mark: '', characters: 0, name: '', held: false, rest: false };
/** A secret that has a mark in a text, or the rest of one that is too long. */
export type MaskedSecret = Readonly<typeof noMasked>;

const noApproval = {
  id: '',
  status: 'pending',
  agent: '',
  sessionId: '',
  tool: '',
  toolVersion: '',
  risk: 'critical' as Risk,
  title: '',
  effect: '',
  effectSha256: '',
  undoable: false,
  ruleId: '',
  reason: '',
  approverRole: '',
  createdAtMs: 0,
  expiresAtMs: 0,
  wanted: 1,
  decidedBy: '',
  decidedByAgent: false,
  decidedAtMs: 0,
  note: '',
  callId: '',
  traceId: '',
  masked: [] as readonly MaskedSecret[],
  argumentsJson: '',
  /** Why nobody can approve it. Empty: it can be approved. */
  hold: '',
};
export type Approval = Readonly<typeof noApproval>;

const noStanding = {
  id: '',
  agent: '',
  sessionId: '',
  tool: '',
  exactScope: false,
  grantedBy: '',
  grantedAtMs: 0,
  expiresAtMs: 0,
  /** -1: any number. */
  usesLeft: -1,
};
export type StandingApproval = Readonly<typeof noStanding>;

const noStep = {
  tool: '',
  argumentsJson: '',
  title: '',
  effect: '',
  risk: 'critical' as Risk,
  reason: '',
  refusal: '',
  masked: [] as readonly MaskedSecret[],
  undoable: false,
};
export type PlanStep = Readonly<typeof noStep>;

const noPlan = {
  id: '',
  status: '',
  agent: '',
  sessionId: '',
  traceId: '',
  summary: '',
  steps: [] as readonly PlanStep[],
  approvedSteps: [] as readonly number[],
  started: 0,
  createdAtMs: 0,
  expiresAtMs: 0,
  decidedBy: '',
  note: '',
  /** As for an approval. */
  hold: '',
};
export type Plan = Readonly<typeof noPlan>;

const noRecord = {
  index: 0,
  leafHash: '',
  kind: '',
  result: '',
  timeMs: 0,
  callId: '',
  sessionId: '',
  rulesHash: '',
  payloadJson: '',
};
export type AuditRecord = Readonly<typeof noRecord>;

const noStatus = {
  version: '',
  mode: '',
  install: '',
  installMeaning: '',
  workspace: '',
  address: '',
  rulesFolder: '',
  ruleCount: 0,
  logSize: 0,
  checkpointSize: 0,
  callsInFlight: 0,
  health: '',
  healthReason: '',
  toolCount: 0,
  activeSessions: 0,
  warnings: [] as readonly string[],
};
export type Status = Readonly<typeof noStatus>;

const noTool = {
  name: '',
  version: '',
  description: '',
  category: '',
  risk: '' as Risk,
  mutates: false,
  status: '',
  statusReason: '',
  origin: '',
  aliases: [] as readonly string[],
  tags: [] as readonly string[],
  inputSchemaJson: '',
};
export type Tool = Readonly<typeof noTool>;

const noVerification = { intact: false, records: 0, checkpointSize: 0, problems: [] as readonly string[] };
export type Verification = Readonly<typeof noVerification>;

const noUse = {
  tool: '',
  succeeded: [] as readonly number[],
  denied: [] as readonly number[],
  asked: [] as readonly number[],
  failed: [] as readonly number[],
};
/** The calls of one tool, a number a slot. */
export type ToolUse = Readonly<typeof noUse>;

const noReport = { index: 0, timeMs: 0, event: '', agent: '', tool: '', sessionId: '' };
export type AbuseReport = Readonly<typeof noReport>;

const noUsage = {
  fromMs: 0,
  slotMs: 0,
  slots: 0,
  countedFromMs: 0,
  tools: [] as readonly ToolUse[],
  reports: [] as readonly AbuseReport[],
};
export type Usage = Readonly<typeof noUsage>;

const readMasked = reader(noMasked);
export const readStanding = reader(noStanding);
export const readRecord = reader(noRecord);
export const readStatus = reader(noStatus);
export const readTool = reader(noTool);
export const readVerification = reader(noVerification);

export function readApproval(json: unknown): Approval {
  const approval = reader(noApproval)(json);
  return { ...approval, masked: approval.masked.map(readMasked) };
}

export function readPlan(json: unknown): Plan {
  const plan = reader(noPlan)(json);
  const steps = plan.steps.map(reader(noStep)).map((step) => ({ ...step, masked: step.masked.map(readMasked) }));
  return { ...plan, steps };
}

export function readUsage(json: unknown): Usage {
  const usage = reader(noUsage)(json);
  return { ...usage, tools: usage.tools.map(reader(noUse)), reports: usage.reports.map(reader(noReport)) };
}

/** 64-bit numbers travel as text. */
function reader<Fields extends object>(defaults: Fields): (json: unknown) => Readonly<Fields> {
  return (json) => {
    const given = (json ?? {}) as Record<string, unknown>;
    const entries = Object.entries(defaults).map(([name, otherwise]: [string, unknown]) => {
      const value = given[name];
      if (value === undefined) return [name, otherwise];
      return [name, typeof otherwise === 'number' ? Number(value) : value];
    });
    return Object.fromEntries(entries) as Fields;
  };
}
