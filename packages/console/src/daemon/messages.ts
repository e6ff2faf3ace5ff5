import type * as contract from '@sallyport/contract';
import type { InJson } from '@sallyport/contract';

// What the daemon says, as the contract has it. 64-bit numbers travel as text: `Number` reads them.
export type MaskedSecret = InJson<contract.MaskedSecret>;
export type Approval = InJson<contract.Approval>;
export type StandingApproval = InJson<contract.StandingApproval>;
export type Plan = InJson<contract.Plan>;
export type Session = InJson<contract.Session>;
export type Lease = InJson<contract.Lease>;
export type AuditRecord = InJson<contract.AuditRecord>;
export type Status = InJson<contract.GetStatusResponse>;
export type ModeReport = InJson<contract.ModeReport>;
export type Verification = InJson<contract.VerifyAuditResponse>;
export type Anomaly = InJson<contract.Anomaly>;
export type ClientPath = InJson<contract.ClientPath>;
export type Tool = InJson<contract.ToolDescriptor>;
/** What agents did lately: series with one number a slot. */
export type ActivityReport = InJson<contract.GetActivityResponse>;
export type Activity = InJson<contract.Activity>;
export type RuleReport = InJson<contract.RuleReport>;
export type Upstream = InJson<contract.Upstream>;
export type InstalledTool = InJson<contract.InstalledTool>;
