import type * as facts from '../call/call.ts';
import { encodeRedacted, ownText } from '../call/redacted.ts';
import type { Redacted } from '../call/redacted.ts';
import type { Session } from '../call/session.ts';
import type { AnyTool } from '../call/tool.ts';
import type { Redactor } from '../redaction/redact.ts';
import {
  describeAsked,
  describeCall,
  describeCaller,
  describeConsent,
  describeDecision,
  describeOwn,
  encodePayload,
  fitsRecord,
} from './describe-call.ts';
import type { KnownFacts, MoreOfCall, Payload } from './describe-call.ts';

type Intending = KnownFacts & facts.Opened & facts.Resolved & facts.Judged & facts.ModeRead;

/** A part of a record, and everything that it says. */
interface Part {
  readonly about: readonly unknown[];
  readonly text: string;
}

/** The parts that the last call of one session for one tool had. */
interface Last {
  caller: Part;
  decision: Part;
}

const nothing: Part = { about: [], text: '' };

/**
 * What the record of an intent says, as text. Calls of one session for one tool say much of it alike, and to describe that
 * anew takes longer than most gates. A part is used again only where all that it says is the very same, and not after the
 * gate has learned another secret. It is the same text as that of `describeCall`.
 */
export class IntentTexts {
  readonly #redactor: Redactor;
  /** A session or tool that is gone takes its texts with it. */
  readonly #last = new WeakMap<Session, WeakMap<AnyTool, Last>>();

  constructor(redactor: Redactor) {
    this.#redactor = redactor;
  }

  encode(call: Intending, more: MoreOfCall): Redacted {
    const redactor = this.#redactor;
    const last = this.#lastOf(call);
    const caller = this.#encodeCaller(call, last);
    const decision = this.#encodeDecision(call, last);
    const own = encodeMembers(describeOwn(call, redactor));
    const asked = encodeMembers(describeAsked(call, redactor));
    const consent = encodeMembers(describeConsent(call, more));
    const text = `{${own},${caller}${asked === '' ? '' : `,${asked}`},${decision}${consent === '' ? '' : `,${consent}`}}`;
    return fitsRecord(text) ? ownText(text) : encodePayload(describeCall(call, redactor, more));
  }

  #lastOf({ session, tool }: Intending): Last {
    const ofSession = this.#last.getOrInsertComputed(session, () => new WeakMap<AnyTool, Last>());
    return ofSession.getOrInsertComputed(tool, () => ({ caller: nothing, decision: nothing }));
  }

  #encodeCaller(call: Intending, last: Last): string {
    const about = [this.#redactor.secretCount, call.tool.definition, call.toolName, call.rules.workspace];
    if (!isSame(last.caller.about, about)) {
      last.caller = { about, text: encodeMembers(describeCaller(call, this.#redactor)) };
    }
    return last.caller.text;
  }

  #encodeDecision(call: Intending, last: Last): string {
    const { effect, rule, reason, shadow } = call.verdict;
    const about = [this.#redactor.secretCount, call.mode, effect, rule.id, reason, shadow];
    if (!isSame(last.decision.about, about)) {
      last.decision = { about, text: encodeMembers(describeDecision(call, this.#redactor)) };
    }
    return last.decision.text;
  }
}

function encodeMembers(payload: Payload): string {
  return encodeRedacted(payload).slice(1, -1);
}

function isSame(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && other.every((each, at) => one[at] === each);
}
