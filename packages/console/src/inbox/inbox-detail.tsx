import { useEffect, useMemo, useRef, useState } from 'react';
import type { InboxItem } from '../live/inbox.ts';
import { daemonNowMs } from '../daemon/connect.ts';
import { Problem, troubleOf } from '../shell/parts.tsx';
import type { Trouble } from '../shell/parts.tsx';
import { AlwaysDialog } from './always-dialog.tsx';
import type { DraftedRule } from './always-dialog.tsx';
import { ApprovalCard } from './approval-card.tsx';
import { addRule, decideApproval, decidePlan, decisionKeys, explainUnavailable, isApproving } from './decision.ts';
import type { Decision, DecisionKind } from './decision.ts';
import { DecisionBar } from './decision-bar.tsx';
import { countRows } from './effect-rows.ts';
import { maskedPlaces, mustBeShown } from './masked-places.ts';
import { PlanCard } from './plan-card.tsx';
import { RevealDialog } from './reveal-dialog.tsx';
import { useArmed } from './use-armed.ts';
import { useKeys } from './use-keys.ts';
import { placeKey, useRevealed } from './use-revealed.ts';
import type { MaskedPlace } from './use-revealed.ts';
import { useSeen } from './use-seen.ts';

export interface InboxDetailProps {
  readonly item: InboxItem;
  /** Identical requests of others: one answer is for all of them. */
  readonly others: readonly InboxItem[];
  /** Whether the list was moved through by key, so that the focus should follow. */
  readonly takesFocus: boolean;
  readonly onMove: (by: 1 | -1) => void;
  readonly onDecided: (text: string) => void;
}

const approvalKinds: readonly DecisionKind[] = ['once', 'session', 'minutes', 'always', 'changes', 'deny'];
const planKinds: readonly DecisionKind[] = ['once', 'changes', 'deny'];
const words: Readonly<Record<DecisionKind, string>> = {
  once: 'Approved',
  session: 'Approved for the session',
  minutes: 'Approved for a while',
  always: 'Approved, and a rule lets such calls through',
  changes: 'Sent back with your request',
  deny: 'Denied',
};

/** What somebody looks at, and the keys and buttons that answer it. Made anew for each item. */
export function InboxDetail({ item, others, takesFocus, onMove, onDecided }: InboxDetailProps) {
  const subject = [item, ...others].map(subjectOf).join();
  const { isArmed, checkArmed } = useArmed(subject);
  const revealed = useRevealed();
  const places = useMemo(() => maskedPlaces(item), [item]);
  const rowCount = useMemo(() => countAllRows(item), [item]);
  const { container, unseenCount, showUnseen, hasSeen } = useSeen(effectOf(item), rowCount, revealed.version);
  const [wording, setWording] = useState<DecisionKind>();
  const [isSending, setIsSending] = useState(false);
  const [isDrafting, setIsDrafting] = useState(false);
  const [trouble, setTrouble] = useState<Trouble>();
  const [leftOut, setLeftOut] = useState<ReadonlySet<number>>(new Set());
  const head = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (takesFocus) head.current?.querySelector('h2')?.focus({ preventScroll: true });
  }, [takesFocus, subject]);

  // One more run, say, while an approval was being worded: the person decides again.
  useEffect(() => {
    setWording((kind) => (kind !== undefined && isApproving(kind) ? undefined : kind));
    setIsDrafting(false);
  }, [subject]);

  const { valueOf, wasShown, noteShown, latest } = revealed;
  useEffect(() => {
    if (latest === undefined) return;
    const part = container.current?.querySelector(`[data-of="${latest}"]`);
    part?.closest('[data-row]')?.scrollIntoView({ block: 'nearest' });
  }, [latest, container]);
  // What was revealed out of view, or is longer than the screen, was not seen yet.
  useEffect(() => {
    const isSeen = (place: MaskedPlace): boolean => valueOf(place) !== undefined && hasSeen(placeKey(place));
    places.filter((place) => !wasShown(place) && isSeen(place)).forEach(noteShown);
  });

  const isPlan = item.kind === 'plan';
  const risk = isPlan ? highestRisk(item) : item.approval.risk;
  const kinds = isPlan ? planKinds : approvalKinds;
  const chosen = new Set(isPlan ? item.plan.steps.keys().filter((at) => !leftOut.has(at)) : []);
  const { hold: heldBy } = isPlan ? item.plan : item.approval;
  const hold = heldBy !== '' ? heldBy : isPlan && chosen.size === 0 ? 'No step is chosen.' : undefined;
  const masked = places.filter(
    (place) => mustBeShown(place) && !wasShown(place) && (place.step === undefined || chosen.has(place.step)),
  );

  const decide = async (decision: Decision): Promise<void> => {
    if (isSending) return;
    setIsSending(true);
    setTrouble(undefined);
    try {
      if (isPlan) await sendPlan(item, decision, [...chosen]);
      else await decideAll([item, ...others], decision);
      // The card is gone by now, so what becomes of the rule is told where the decision is.
      const noRule = decision.kind === 'always' ? await addRule(decision.draft).catch(troubleOf) : undefined;
      const word = noRule === undefined ? words[decision.kind] : `Approved, but no rule was added (${noRule.message})`;
      onDecided(`${word}: ${isPlan ? `the plan of ${item.plan.agent}` : item.approval.title}`);
    } catch (error) {
      setTrouble(troubleOf(error));
      setWording(undefined);
    } finally {
      setIsSending(false);
    }
  };

  const choose = (kind: DecisionKind): void => {
    if (!checkArmed() || isSending || !kinds.includes(kind)) return;
    if (isApproving(kind) && (unseenCount > 0 || masked.length > 0 || hold !== undefined || isOver(item))) return;
    if (explainUnavailable(kind, risk) !== undefined) return;
    const needsWords = kind === 'minutes' || kind === 'changes' || (kind === 'once' && risk === 'critical');
    if (needsWords) setWording(kind);
    else if (kind === 'always') setIsDrafting(true);
    else void decide({ kind });
  };

  const endDraft = (draft: DraftedRule | undefined): void => {
    setIsDrafting(false);
    if (draft !== undefined) void decide({ kind: 'always', draft });
  };

  useKeys((key) => {
    if (wording !== undefined || isDrafting) return false;
    if (key === 'j' || key === 'k') onMove(key === 'j' ? 1 : -1);
    else if (key === ' ' && unseenCount > 0) showUnseen();
    else {
      const kind = Object.hasOwn(decisionKeys, key) ? decisionKeys[key] : undefined;
      if (kind === undefined) return false;
      choose(kind);
    }
    return true;
  });

  const once = isPlan ? nameChosen(item, chosen.size) : nameRuns(item, others.length);
  const choosePart = (step: number, isChosen: boolean): void => {
    const next = new Set(leftOut);
    if (isChosen) next.delete(step);
    else next.add(step);
    setLeftOut(next);
  };

  return (
    <section className={`card card-${risk}`} aria-label="Request">
      <div className="card-scroll" ref={container} tabIndex={0} role="group" aria-label="The request in full">
        <div ref={head}>
          {isPlan ? (
            <PlanCard plan={item.plan} places={places} revealed={revealed} chosen={chosen} onChoose={choosePart} />
          ) : (
            <ApprovalCard
              approval={item.approval}
              others={others.flatMap((each) => (each.kind === 'approval' ? [each.approval] : []))}
              places={places}
              revealed={revealed}
            />
          )}
        </div>
      </div>
      {revealed.asked && <RevealDialog place={revealed.asked} onClose={revealed.show} />}
      {isDrafting && !isPlan && <AlwaysDialog approval={item.approval} onClose={endDraft} />}
      {heldBy !== '' && (
        <p className="card-hold" role="status">
          {heldBy}
        </p>
      )}
      {trouble && <Problem trouble={trouble} />}
      <DecisionBar
        risk={risk}
        kinds={kinds}
        {...(once === undefined ? {} : { labels: { once } })}
        isArmed={isArmed && !isSending}
        unseenCount={unseenCount}
        showUnseen={showUnseen}
        masked={masked.filter((place) => valueOf(place) === undefined)}
        onReveal={revealed.ask}
        unshownCount={masked.length}
        hold={hold}
        wording={wording}
        onChoose={choose}
        onDecide={(decision) => void decide(decision)}
        onCancel={() => setWording(undefined)}
      />
    </section>
  );
}

/** Whatever of it changes, it is something else to decide about. */
function subjectOf(item: InboxItem): string {
  return item.kind === 'plan' ? item.id : `${effectOf(item)} ${item.approval.wanted}`;
}

function effectOf(item: InboxItem): string {
  return item.kind === 'plan' ? item.id : `${item.id} ${item.approval.effectSha256}`;
}

function countAllRows(item: InboxItem): number {
  const parts = item.kind === 'approval' ? [item.approval] : item.plan.steps;
  return parts.reduce((sum, { effect, argumentsJson, masked }) => {
    const shown = item.kind === 'plan' ? effect || argumentsJson : effect;
    return (
      sum +
      countRows(
        shown,
        masked.map(({ mark }) => mark),
      )
    );
  }, 0);
}

function highestRisk({ plan }: InboxItem & { kind: 'plan' }) {
  const order = ['critical', 'high', 'medium', 'low'] as const;
  return order.find((risk) => plan.steps.some((step) => step.risk === risk)) ?? 'critical';
}

function nameChosen({ plan }: InboxItem & { kind: 'plan' }, count: number): string {
  return count < plan.steps.length ? `Approve ${count}` : 'Approve all';
}

/** Undefined: it is one run. */
function nameRuns({ approval: { wanted } }: InboxItem & { kind: 'approval' }, others: number): string | undefined {
  if (others > 0) return `Approve ${others + 1} requests`;
  return wanted > 1 ? `Approve ${wanted} runs` : undefined;
}

/** One after the other: the first that fails keeps the rest as it is, on the screen. */
async function decideAll(items: readonly InboxItem[], decision: Decision): Promise<void> {
  for (const item of items) if (item.kind === 'approval') await decideApproval(item.approval, decision);
}

function isOver(item: InboxItem): boolean {
  const { expiresAtMs } = item.kind === 'plan' ? item.plan : item.approval;
  return Number(expiresAtMs) <= daemonNowMs();
}

async function sendPlan({ plan }: InboxItem & { kind: 'plan' }, decision: Decision, chosen: number[]): Promise<void> {
  if (isApproving(decision.kind)) await decidePlan(plan, chosen);
  else await decidePlan(plan, [], decision.kind === 'changes' ? decision.note : '');
}
