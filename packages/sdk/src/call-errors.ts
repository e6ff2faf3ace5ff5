import type { Denied, Failed, PendingApproval } from '@sallyport/contract/client';

/** A gate said no, or a person must agree first; `result` tells which. */
export class ToolDenied extends Error {
  readonly result: Denied | PendingApproval;

  constructor(result: Denied | PendingApproval) {
    super(`${result.tool}: ${[result.message, result.remedy ?? ''].join(' ').trim()}`);
    this.name = 'ToolDenied';
    this.result = result;
  }

  get code(): string {
    return this.result.code;
  }
}

export class ToolFailed extends Error {
  readonly result: Failed;

  constructor(result: Failed) {
    super(`${result.tool}: ${result.message}`);
    this.name = 'ToolFailed';
    this.result = result;
  }

  get code(): string {
    return this.result.code;
  }
}
