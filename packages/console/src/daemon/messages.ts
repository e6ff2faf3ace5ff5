// What the daemon says, with every field present. JSON leaves out fields that have their default value.

export type Risk = 'low' | 'medium' | 'high' | 'critical';

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
  decidedAtMs: 0,
  note: '',
  callId: '',
  traceId: '',
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

export const readApproval = reader(noApproval);
export const readStanding = reader(noStanding);
export const readRecord = reader(noRecord);
export const readStatus = reader(noStatus);
export const readTool = reader(noTool);
export const readVerification = reader(noVerification);

export function readPlan(json: unknown): Plan {
  const plan = reader(noPlan)(json);
  return { ...plan, steps: plan.steps.map(reader(noStep)) };
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
