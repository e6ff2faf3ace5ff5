import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { InJson, PolicyRules, PolicyShadow, PolicyStatus } from '@sallyport/contract';
import { callTool } from '../daemon/call-tool.ts';
import { indexedPart, isBeingIndexed } from '../daemon/indexed-part.ts';
import type { RuleReport } from '../daemon/messages.ts';
import { useGate, useNowMs, useValue } from '../live/use-live.ts';
import { Empty, Fact, Loading, PageHead, Problem } from '../shell/parts.tsx';
import { useLoaded } from '../shell/use-loaded.ts';
import { linkTo } from '../shell/use-route.ts';
import { formatAgo, formatCount } from '../text/format.ts';
import { Visible } from '../text/visible.tsx';
import { RuleFiles } from './rule-files.tsx';

interface RulesView {
  readonly list: InJson<PolicyRules>;
  readonly status: InJson<PolicyStatus>;
}

type Tried = InJson<PolicyShadow>['rules'];

async function loadRules(): Promise<RulesView> {
  const [list, status] = await Promise.all([
    callTool<InJson<PolicyRules>>('policy.list', {}),
    callTool<InJson<PolicyStatus>>('policy.status', {}),
  ]);
  return { list, status };
}

/** What rules that are tried out would have done. This goes through records, so only where there is such a rule. */
function useTried(list: InJson<PolicyRules> | undefined): Tried | undefined {
  const isTrying = list?.rules.some(({ shadow }) => shadow) ?? false;
  const load = useCallback(
    async () => (isTrying ? (await callTool<InJson<PolicyShadow>>('policy.shadow', {})).rules : []),
    [isTrying],
  );
  return useLoaded(load, list?.hash).value;
}

const sorts = {
  file: { title: 'as in the files', compare: () => 0 },
  hits: { title: 'most used first', compare: (a: RuleReport, b: RuleReport) => hitsOf(b) - hitsOf(a) },
  unused: { title: 'never matched first', compare: (a: RuleReport, b: RuleReport) => hitsOf(a) - hitsOf(b) },
} as const;
type Sort = keyof typeof sorts;

/** What is allowed, which rules matter, and what the files would change. `ruleId` opens one of them. */
export function RulesPage({ ruleId }: { readonly ruleId: string }) {
  const { rulesHash = '' } = useValue(useGate().status) ?? {};
  const { value, trouble, reload } = useLoaded(loadRules, rulesHash);
  const tried = useTried(value?.list);
  const [text, setText] = useState('');
  const [sort, setSort] = useState<Sort>('file');
  const wanted = text.trim().toLowerCase();
  const rules = useMemo(() => {
    const fitting = (value?.list.rules ?? []).filter((each) => textOf(each).includes(wanted));
    return fitting.toSorted(sorts[sort].compare);
  }, [value, wanted, sort]);
  const unused = value?.list.rules.filter((each) => hitsOf(each) === 0).length ?? 0;
  return (
    <>
      <PageHead title="Rules">
        <div className="filters" role="search">
          <input
            type="search"
            aria-label="Filter the rules"
            placeholder="Filter: name, tool, path…"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <select aria-label="Order" value={sort} onChange={(event) => setSort(event.target.value as Sort)}>
            {Object.entries(sorts).map(([name, { title }]) => (
              <option key={name} value={name}>
                {title}
              </option>
            ))}
          </select>
        </div>
      </PageHead>
      {trouble && <Problem trouble={trouble} onRetry={reload} />}
      {value === undefined && trouble === undefined && <Loading what="the rules" />}
      {value !== undefined && (
        <>
          <RuleFiles status={value.status} reload={reload} />
          <p className="muted list-note">
            {formatCount(value.list.rules.length, 'rule')} in force, {unused} of them never decided a call.
            {isBeingIndexed(indexedPart(value.list)) && ' The log is still being counted.'}
          </p>
          {ruleId !== '' && !value.list.rules.some(({ rule }) => rule?.id === ruleId) && <NoSuchRule id={ruleId} />}
          {rules.length === 0 && <Empty title="No rule fits the filter" />}
          <ul className="rows" aria-label="Rules">
            {rules.map((each) => (
              <RuleLine key={each.rule?.id} report={each} tried={tried} isOpen={each.rule?.id === ruleId} />
            ))}
          </ul>
        </>
      )}
    </>
  );
}

/** A link from a call may name what is no rule of the files, or is not one any more. */
function NoSuchRule({ id }: { readonly id: string }) {
  return (
    <p className="block-section list-note" role="status">
      <span>
        No rule named{' '}
        <strong>
          <Visible text={id} />
        </strong>{' '}
        is in force. A call that names it was decided by the gate itself, or by a rule that is gone.{' '}
        <a href={linkTo('calls', '', `rule:${id}`)}>The calls that it decided</a>
      </span>
    </p>
  );
}

const effectBadges: Readonly<Record<string, string>> = { allow: 'ok', require_approval: 'waiting', deny: 'denied' };
const effectWords: Readonly<Record<string, string>> = { allow: 'allows', require_approval: 'asks', deny: 'denies' };

interface RuleLineProps {
  readonly report: RuleReport;
  /** Undefined: not known yet. */
  readonly tried: Tried | undefined;
  readonly isOpen: boolean;
}

/** How often it decided; of a rule that is tried out, how often it would have. */
function tellHits(report: RuleReport, allTried: Tried | undefined): string {
  if (report.shadow && allTried === undefined) return 'trying it on the log…';
  const tried = report.shadow ? allTried?.find(({ rule }) => rule?.id === report.rule?.id) : undefined;
  if (tried !== undefined) return `would deny ${tried.wouldDeny}, ask ${tried.wouldAsk}`;
  const hits = hitsOf(report);
  return hits === 0 ? 'never matched' : formatCount(hits, 'call');
}

function RuleLine({ report, tried: allTried, isOpen }: RuleLineProps) {
  const nowMs = useNowMs();
  const line = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isOpen) line.current?.scrollIntoView({ block: 'nearest' });
  }, [isOpen]);
  const { rule, effect, tools, who, shadow: isTried, reason, conditions, lastAtMs } = report;
  const id = rule?.id ?? '';
  return (
    <li ref={line}>
      <details open={isOpen}>
        <summary className="line line-rule">
          <span className={`badge badge-${effectBadges[effect] ?? 'calm'}`}>{effectWords[effect] ?? effect}</span>
          <span className="line-main">
            <strong>
              <Visible text={id} />
            </strong>
            {isTried && <span className="badge badge-many">tried out</span>}{' '}
            <span className="muted">
              <Visible text={tools.join(', ')} />
            </span>
          </span>
          <span className="line-end">
            <span className={hitsOf(report) === 0 ? 'muted' : ''}>{tellHits(report, allTried)}</span>
            <span className="muted rule-last">{lastAtMs === undefined ? '' : formatAgo(Number(lastAtMs), nowMs)}</span>
          </span>
        </summary>
        <div className="record-detail">
          {reason !== '' && (
            <p>
              <Visible text={reason} />
            </p>
          )}
          <dl className="facts">
            <Fact name="for">{who.join(' and ')}</Fact>
            {conditions.map((condition) => {
              const [name = '', ...rest] = condition.split(': ');
              return (
                <Fact key={condition} name={name}>
                  <Visible text={rest.join(': ')} />
                </Fact>
              );
            })}
            <Fact name="decided">
              {report.succeeded} ok, {report.denied} denied, {report.asked} asked, {report.failed} failed
            </Fact>
            <Fact name="edit it in">
              <code>
                <Visible
                  text={`${rule?.file ?? 'the gate itself'}${rule?.line === undefined ? '' : `:${rule.line}`}`}
                />
              </code>
            </Fact>
          </dl>
          <a href={linkTo('calls', '', `rule:${id}`)}>The calls that it decided</a>
        </div>
      </details>
    </li>
  );
}

function hitsOf({ succeeded, denied, asked, failed }: RuleReport): number {
  return Number(succeeded) + Number(denied) + Number(asked) + Number(failed);
}

function textOf({ rule, tools, reason, conditions, effect }: RuleReport): string {
  return [rule?.id, effect, ...tools, reason, ...conditions].join('\n').toLowerCase();
}
