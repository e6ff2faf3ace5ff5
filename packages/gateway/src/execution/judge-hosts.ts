import { outsideLease } from '../policy/judge/lease.ts';
import { narrowGrants } from '../programs/run/narrow-grants.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { SecretGrant, SecretUse } from '../call/secret-grant.ts';
import type { Lease } from '../call/session.ts';
import type { HostJudge, Resources } from '../call/tool.ts';
import { noGrants } from '../call/verdict.ts';
import type { Grants, Question, Rules, Verdict } from '../call/verdict.ts';

export interface HostJudgeParts {
  readonly rules: Pick<Rules, 'judge' | 'hash'>;
  /** What the rules were asked about the call itself. */
  readonly question: Question;
  readonly lease: Lease;
  /** Somebody agreed to the call, and so to the hosts that it names itself. */
  readonly consented: boolean;
  readonly secrets: {
    readonly secretsFor: (grants: readonly SecretGrant[], use: SecretUse) => ReadonlyMap<string, string>;
  };
}

/** Nobody agreed to a host that an answer names: it is reached only where the rules allow it without a question. */
export function judgeHosts({ rules, question, lease, consented, secrets }: HostJudgeParts): HostJudge {
  const tool = question.tool.name;
  const named = new Set(question.resources.hosts);
  return {
    judge: (host, args) => {
      const nowMs = Date.now();
      const resources: Resources = { ...question.resources, hosts: [host] };
      const outside = outsideLease(lease, tool, resources, nowMs);
      if (outside !== undefined) return outside;
      const verdict = rules.judge({ ...question, resources, arguments: args, nowMs });
      if (verdict.effect === 'deny') return refusalOf(verdict, rules.hash);
      if (verdict.effect === 'require_approval' && !(consented && named.has(host))) {
        return refuse('HOST_REFUSED', verdict.rule, `${host} can only be reached when a person agrees to it.`, {
          remedy: 'Make a call for that address itself; a person is asked then, unless the gate never connects to it.',
          rulesHash: rules.hash,
        });
      }
      const grants = narrowGrants(verdict.grants ?? noGrants, lease);
      return { hosts: grants.hosts, readHeaders: () => headersFor(grants, { tool, host: nameOf(host) }, secrets) };
    },
  };
}

function refusalOf(verdict: Verdict, rulesHash: string): Refusal {
  const { code = 'RULE_DENIES', rule, reason, remedy, forOperators } = verdict;
  return refuse(code, rule, reason, {
    rulesHash,
    ...(remedy === undefined ? {} : { remedy }),
    ...(forOperators === undefined ? {} : { forOperators }),
  });
}

/** Of two secrets for one header the first counts. */
function headersFor(
  { secrets: granted }: Grants,
  use: SecretUse,
  secrets: HostJudgeParts['secrets'],
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const grant of granted) {
    const { name, header } = grant;
    if (header === undefined || header.name in headers) continue;
    const value = secrets.secretsFor([grant], use).get(name);
    if (value === undefined) continue;
    headers[header.name] = header.scheme === undefined ? value : `${header.scheme} ${value}`;
  }
  return headers;
}

function nameOf(host: string): string {
  return host.replace(/:\d+$/, '');
}
