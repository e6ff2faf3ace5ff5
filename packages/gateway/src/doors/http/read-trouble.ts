import { describeCode } from '@sallyport/contract';
import type { ApprovalNeed, Code, ExecuteToolResponse } from '@sallyport/contract';

/** Why a call did not succeed, as every form tells it. What is absent, there is none of. */
export interface Trouble {
  readonly code: Code;
  readonly message: string;
  readonly category: string;
  readonly retryable: boolean;
  readonly httpStatus: number;
  readonly retryAfterMs?: number;
  readonly ruleId?: string;
  readonly remedy?: string;
  readonly violations?: readonly { readonly field: string; readonly rule: string; readonly message: string }[];
  readonly approval?: {
    readonly binding: string;
    readonly effect: string;
    /** Absent for a call that its own operator can confirm. */
    readonly taskId?: string;
    readonly status?: string;
    readonly expiresAt?: string;
  };
}

/** What stood in the way of the call, or undefined when it succeeded. */
export function readTrouble({ result }: ExecuteToolResponse): Trouble | undefined {
  switch (result.case) {
    case 'denied': {
      const { ruleId, rationaleCode, message, remedy, violations, approval } = result.value;
      const { code, category, retryable, http } = describeCode(rationaleCode as Code);
      return {
        ...{ code, message, category, retryable, httpStatus: http, ruleId },
        ...(remedy === '' ? {} : { remedy }),
        ...(violations.length === 0
          ? {}
          : { violations: violations.map(({ field, rule, message: why }) => ({ field, rule, message: why })) }),
        ...(approval === undefined ? {} : { approval: readTicket(approval) }),
      };
    }
    case 'error': {
      const { code, message, category, retryable, retryAfterMs } = result.value;
      return {
        ...{ code: code as Code, message, category, retryable, httpStatus: describeCode(code as Code).http },
        ...(retryAfterMs === 0n ? {} : { retryAfterMs: Number(retryAfterMs) }),
      };
    }
    default:
      return undefined;
  }
}

function readTicket({ binding, effect, taskId, status, expiresAtMs }: ApprovalNeed): NonNullable<Trouble['approval']> {
  if (taskId === '') return { binding, effect };
  return { binding, effect, taskId, status, expiresAt: new Date(Number(expiresAtMs)).toISOString() };
}
