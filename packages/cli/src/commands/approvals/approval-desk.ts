import { renderEffect, renderHead } from './approval-card.ts';
import type { ShownApproval } from './approval-card.ts';
import { statusOf } from '../../client/answer-json.ts';
import type { CommandContext } from '../../command-context.ts';
import type { DaemonClient } from '../../client/daemon-client.ts';
import { applyAlways, draftAlways } from './always-allow.ts';
import { layOutKeys, offerKeys, readDecision } from './decision-keys.ts';
import type { Decision } from './decision-keys.ts';
import type { KeyReader } from '../../terminal/key-reader.ts';
import { mustBeRevealed, reasonQuestion, revealMasked } from './reveal-masked.ts';
import { showAnswer } from '../../client/show-answer.ts';

export interface ApprovalEvent {
  readonly event: string;
  readonly approval: ShownApproval;
}

export interface DeskParts {
  readonly client: Pick<DaemonClient, 'executeTool'>;
  readonly context: CommandContext;
  readonly keys: KeyReader;
}

/** Keys are dead for so long after a card has appeared: nobody decides about what came up under their finger. */
const settleMs = 500;
const bell = '\u0007';

/** A person, the cards that wait for them, and one card on the table, which stays there until it is done with. */
export class ApprovalDesk {
  readonly #parts: DeskParts;
  /** By id, in the order in which they came. */
  readonly #waiting = new Map<string, ShownApproval>();
  #table: ShownApproval | undefined;
  /** Left for later: not put on the table before the others. */
  readonly #later = new Set<string>();
  /** Ends the present wait for a key. */
  #turn = new AbortController();
  #closed = false;

  constructor(parts: DeskParts) {
    this.#parts = parts;
  }

  /** Until the person leaves or the desk is closed. */
  async serve(): Promise<void> {
    const { print, paint } = this.#parts.context.terminal;
    print(paint('dim', 'Calls that wait for you appear here. q leaves.'));
    for (let stays = true; stays && !this.#closed;) stays = await this.#serveNext();
  }

  close(): void {
    this.#closed = true;
    this.#turn.abort();
  }

  hear({ event, approval }: ApprovalEvent): void {
    const { print, paint } = this.#parts.context.terminal;
    const id = approval.id;
    if (event === 'reminder') return ring();
    if (event === 'outdated') {
      if (this.#waiting.has(id)) this.#waiting.set(id, approval);
      // It is shown again, with what has changed.
      if (this.#table?.id === id) this.#turn.abort();
      return;
    }
    if (event === 'pending') {
      const isNew = !this.#waiting.has(id);
      this.#waiting.set(id, approval);
      if (isNew) ring();
      if (this.#table === undefined) this.#turn.abort();
      else if (isNew) print(paint('dim', `${this.#waiting.size - 1} more wait.`));
      return;
    }
    const wasWaiting = this.#waiting.delete(id);
    this.#later.delete(id);
    if (!wasWaiting || this.#table?.id !== id) return;
    print(paint('dim', event === 'expired' ? 'Nobody decided in time.' : `${approval.decidedBy} decided.`));
    this.#turn.abort();
  }

  /** False when the person wants to leave. */
  async #serveNext(): Promise<boolean> {
    this.#turn = new AbortController();
    const { signal } = this.#turn;
    const task = this.#waiting.values().find(({ id }) => !this.#later.has(id));
    this.#table = task;
    if (task === undefined) return this.#waitForMore(signal);
    const stays = await this.#serveCard(task, signal);
    this.#table = undefined;
    return stays;
  }

  /** Nothing is to be decided now: news or a key goes on. */
  async #waitForMore(signal: AbortSignal): Promise<boolean> {
    const { print, paint } = this.#parts.context.terminal;
    if (this.#waiting.size > 0) print(paint('bold', `${this.#waiting.size} left for later.  n: show again  q: leave`));
    const key = await this.#parts.keys.next(signal);
    if (key === 'n') this.#later.clear();
    return key !== 'q';
  }

  async #serveCard(task: ShownApproval, signal: AbortSignal): Promise<boolean> {
    const { terminal } = this.#parts.context;
    let isRevealed = mustBeRevealed(task.masked).length === 0;
    const card = ['', ...renderHead(task, terminal), '', ...renderEffect(task.effect, terminal)];
    let unseen = this.#showRows(card, task, isRevealed);
    for (let shownAtMs = performance.now(); ;) {
      const key = await this.#parts.keys.next(signal);
      if (key === undefined) return true;
      if (key === 'q') return false;
      if (performance.now() - shownAtMs < settleMs) continue;
      if (key === ' ' && unseen.length > 0) {
        unseen = this.#showRows(unseen, task, isRevealed);
        shownAtMs = performance.now();
      } else if (key === 'n') {
        this.#later.add(task.id);
        return true;
      } else if (key === 'r' && unseen.length === 0 && task.masked.length > 0) {
        const rows = await this.#reveal(task);
        if (rows === undefined) continue;
        isRevealed = true;
        unseen = this.#showRows(rows, task, isRevealed);
        shownAtMs = performance.now();
      } else if ((unseen.length === 0 && (isRevealed || task.hold !== '')) || key === 'd' || key === 'c') {
        if (key === 'A') {
          if (task.risk !== 'critical' && (await this.#allowAlways(task))) return true;
          unseen = this.#showRows([], task, isRevealed);
          continue;
        }
        // Nobody agrees to what they have not seen. Of what is on hold the gate says why.
        const decision = await readDecision(key, task, this.#parts.keys);
        if (decision === undefined) continue;
        await this.#send(decision, task);
        return true;
      }
    }
  }

  /** False: the person thought better of it, or no rule can be drafted. */
  async #allowAlways(task: ShownApproval): Promise<boolean> {
    const { context, keys } = this.#parts;
    const draft = await draftAlways(task, context, keys);
    const decision = draft && (await readDecision('a', task, keys));
    if (draft === undefined || decision === undefined) return false;
    if (await this.#send(decision, task)) await applyAlways(draft, context);
    return true;
  }

  /** The rows to show. Undefined: nothing was revealed. */
  async #reveal({ id: taskId }: ShownApproval): Promise<readonly string[] | undefined> {
    const { client, context, keys } = this.#parts;
    const reason = (await keys.ask(reasonQuestion))?.trim() ?? '';
    if (reason === '') return undefined;
    return revealMasked({ tool: 'approvals.reveal', input: { task_id: taskId } }, reason, client, context);
  }

  /** Prints a page. Returns the rows that are still to be seen. */
  #showRows(rows: readonly string[], task: ShownApproval, isRevealed: boolean): readonly string[] {
    const { print, paint, rows: screenRows, columns } = this.#parts.context.terminal;
    const pageRows = Math.max(10, screenRows - 5);
    const unseen = rows.slice(pageRows);
    const keys =
      unseen.length > 0
        ? `space: ${unseen.length} more lines  d: deny  n: later  q: leave`
        : layOutKeys([...(isRevealed ? [] : ['r: reveal what is masked, then']), ...offerKeys(task)], columns);
    print(...rows.slice(0, pageRows), '', paint('bold', keys));
    return unseen;
  }

  /** Whether it counts. */
  async #send({ tool, input }: Decision, task: ShownApproval): Promise<boolean> {
    const { client, context } = this.#parts;
    // Before the answer: a person's own decision is not news to them.
    this.#waiting.delete(task.id);
    const answer = await client.executeTool({ name: tool, inputJson: JSON.stringify(input) });
    if (statusOf(answer) !== 'success') {
      showAnswer(answer, context);
      return false;
    }
    const isApproved = tool === 'approvals.approve';
    context.terminal.print(context.terminal.paint(isApproved ? 'green' : 'red', isApproved ? 'Approved.' : 'Denied.'));
    return true;
  }
}

function ring(): void {
  process.stdout.write(bell);
}
