import { join } from 'node:path';
import { isWithin } from '@sallyport/sandbox';
import { protectPaths } from '@sallyport/gateway';
import { answerToJson, exitCodeOfStatus, statusOf, toNumber } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import { quoteForShell } from '../../terminal/command-name.ts';
import { spellBytes } from '@sallyport/contract';
import { readComplaints } from '../policy/read-complaints.ts';
import { StepFailed } from '../../client/run-steps.ts';
import type { ConsentOptions, Step } from '../../client/run-steps.ts';
import { showAnswer } from '../../client/show-answer.ts';
import { suggestRule } from '../policy/suggest-rule.ts';
import type { Suggestion } from '../policy/suggest-rule.ts';
import { renderFields } from '../../terminal/table.ts';
import { parseObject } from './parse-object.ts';
import { runCall } from './tool-invoke.ts';
import { spellId } from './tool-standing.ts';
import type { ToolStanding } from './tool-standing.ts';
import { makeVisibleLine, visibleJson } from '../../terminal/visible-text.ts';
import type { ExecuteToolResponseJson, Explanation, InJson } from '@sallyport/contract';

/** How the rules decide about a call of an agent. */
type AgentVerdict = Pick<InJson<Explanation>, 'effect' | 'decidedBy'>;

const verdictWords: Readonly<Record<string, string>> = {
  allow: 'an agent may make this call',
  require_approval: 'an agent has to wait for a person',
  deny: 'an agent may not make this call',
};

/** Runs of a tool with all that its author wants to know: what the gates say, what it did, and what it was kept from. */
export class ToolTrial {
  readonly #step: Step;
  readonly #context: CommandContext;
  #hasAgreed: boolean;

  constructor(step: Step, { yes = false }: ConsentOptions, context: CommandContext) {
    this.#step = step;
    this.#context = context;
    this.#hasAgreed = yes;
  }

  /** `input`: JSON. Returns the exit code of the call. */
  async run(standing: ToolStanding, input: string): Promise<number> {
    const { json, terminal } = this.#context;
    const verdict = await this.#askVerdict(standing, input);
    if (!json && verdict !== undefined) terminal.print(...this.#renderVerdict(standing, verdict));
    let stderr = '';
    const answer = await runCall({ name: `${standing.name}@${standing.version}`, inputJson: input }, this.#context, {
      onProgress: (news) => (stderr += news.stderr ?? ''),
      ...(this.#hasAgreed ? { consent: 'agreed' } : {}),
    });
    // A person who saw what it may do and let it run also agrees to the next run of the same work.
    this.#hasAgreed ||= statusOf(answer) !== 'denied';
    const suggestion = this.#suggest(standing, answer, stderr);
    if (json) {
      const about = { tool: standing.name, version: standing.version, verdict, ...suggestion };
      terminal.print(visibleJson({ ...about, call: answerToJson(answer) }));
      return exitCodeOfStatus[statusOf(answer)];
    }
    const exitCode = showAnswer(answer, this.#context);
    terminal.note(...this.#renderUsage(answer), ...this.#renderSuggestion(suggestion));
    return exitCode;
  }

  /** Undefined when it cannot be told, such as for arguments that do not fit; then the call itself says so. */
  async #askVerdict({ name, version }: ToolStanding, input: string): Promise<AgentVerdict | undefined> {
    try {
      const asked = { tool: `${name}@${version}`, arguments: JSON.parse(input || '{}') as object, principal: 'agent' };
      const { effect, decidedBy } = await this.#step<InJson<Explanation>>('policy.explain', asked);
      return { effect, ...(decidedBy && { decidedBy }) };
    } catch (error) {
      if (error instanceof StepFailed || error instanceof SyntaxError) return undefined;
      throw error;
    }
  }

  #suggest(standing: ToolStanding, { error }: ExecuteToolResponseJson, stderr: string): Suggestion {
    const { home, userHome, programFolder, rulesFolder, startFolder, workspace = startFolder } = this.#context.config;
    const { asks_for: asked = {} } = parseObject(standing.definitionJson) as {
      readonly asks_for?: Readonly<Record<string, readonly string[]>>;
    };
    const failure = error && { code: error.code ?? '', message: error.message ?? '' };
    return suggestRule(
      {
        tool: standing.name,
        complaints: readComplaints(`${stderr}\n${failure?.message ?? ''}`),
        asked: { read: asked['read'] ?? [], write: asked['write'] ?? [], hosts: asked['hosts'] ?? [] },
        ...(failure === undefined ? {} : { failure }),
      },
      {
        workspace,
        userHome,
        protectedPaths: protectPaths({ home: home.folder, programFolder, rulesFolder, userHome }),
      },
    );
  }

  #renderVerdict(standing: ToolStanding, { effect, decidedBy }: AgentVerdict): string[] {
    const { paint, columns } = this.#context.terminal;
    const tone = effect === 'allow' ? 'green' : effect === 'deny' ? 'red' : 'yellow';
    const fields: [string, string][] = [
      ['verdict', `${effect}: ${verdictWords[effect] ?? ''}`],
      ['rule', decidedBy?.rule?.id ?? ''],
      ['why', decidedBy?.why ?? ''],
    ];
    const shown = fields.map(([label, value]): [string, string] => [label, makeVisibleLine(value)]);
    const [first = '', ...more] = renderFields(shown, columns);
    return [paint('bold', spellId(standing)), first.replace(effect, paint(tone, effect)), ...more, ''];
  }

  /** What was measured, and nothing else. */
  #renderUsage({ usage = {}, durationMs }: ExecuteToolResponseJson): string[] {
    const { cpuMs, peakMemoryBytes, networkConnections, measuredBy } = usage;
    const parts = [
      `${toNumber(durationMs)} ms`,
      cpuMs === undefined ? '' : `CPU ${Math.round(Number(cpuMs))} ms`,
      peakMemoryBytes === undefined ? '' : `memory ${spellBytes(Number(peakMemoryBytes))}`,
      networkConnections === undefined ? '' : `${networkConnections} connections`,
      measuredBy ? `measured by ${makeVisibleLine(measuredBy)}` : '',
    ];
    return ['', this.#context.terminal.paintNote('dim', parts.filter((part) => part !== '').join(', '))];
  }

  #renderSuggestion({ refused, rule }: Suggestion): string[] {
    if (refused.length === 0) return [];
    const { terminal, config, commandName } = this.#context;
    const fields = refused.map(({ what, why }): [string, string] => [makeVisibleLine(what), makeVisibleLine(why)]);
    const lines = ['', terminal.paintNote('yellow', 'Kept from it'), ...renderFields(fields, terminal.columns)];
    if (rule === undefined) return lines;
    const { rulesFolder, programFolder, home } = config;
    // The shipped rules are replaced by the next install.
    const copy = isWithin(programFolder, rulesFolder)
      ? [
          'Make the rules your own first, once:',
          `  cp -r ${quoteForShell(rulesFolder)} ${quoteForShell(home.rulesFolder)}`,
        ]
      : [];
    return [
      ...lines,
      '',
      `A rule would allow it. Add to ${join(home.rulesFolder, 'tools.yaml')}, under rules:`,
      '',
      ...rule.split('\n').map((line) => `  ${makeVisibleLine(line)}`),
      '',
      `and put it in force with \`${commandName} policy apply\`.`,
      ...copy,
    ];
  }
}
