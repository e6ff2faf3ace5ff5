import { hash } from 'node:crypto';
import { canonicalJson } from '@sallyport/contract';
import type { ArgumentsChecked, Judged, ModeRead, Opened, Resolved } from '../call/call.ts';
import type { Effect, Resources, ToolDefinition } from '../call/tool.ts';
import { hashDefinition } from '../registry/hash-definition.ts';

export type BoundCall = Opened & Resolved & ArgumentsChecked & ModeRead & Judged;

/** What a decision is tied to. */
export interface Binding {
  /** Over everything: another before-image is another decision. */
  readonly binding: string;
  /** Over what the call would touch, whatever its arguments where the gate knows what that is. */
  readonly scopeSha256: string;
  /** Over the effect as it is shown. */
  readonly effectSha256: string;
}

/** The one function that computes what is bound, when a call is shown and again when it is about to run. */
export function bindCall(call: BoundCall, effect: Effect): Binding {
  const { tool, verdict } = call;
  const { name } = tool.definition;
  // A tool may have cut its text through a surrogate pair, which has no canonical form.
  const [summary, detail] = [effect.summary.toWellFormed(), effect.detail.toWellFormed()];
  const scopeSha256 = hash('sha256', canonicalJson({ tool: name, ...describeScope(call) }));
  const effectSha256 = hash('sha256', canonicalJson({ summary, detail, undoable: effect.undoable }));
  const binding = hash(
    'sha256',
    canonicalJson({
      session: call.session.id,
      ...describeTool(tool.definition),
      arguments_sha256: call.arguments.sha256,
      scope_sha256: scopeSha256,
      rules: call.rules.hash,
      asked_by: [...(verdict.askedBy ?? [])],
      approvers: [...(verdict.approvers ?? [])],
      mode: call.mode,
      effect_sha256: effectSha256,
      basis_sha256: hash('sha256', effect.basis ?? ''),
    }),
  );
  return { binding, scopeSha256, effectSha256 };
}

/** Over an effect and what it was worked out from, for consent that is given before the call is made. */
export function bindEffect({ summary, detail, undoable, basis = '' }: Effect): string {
  return hash(
    'sha256',
    canonicalJson({ summary: summary.toWellFormed(), detail: detail.toWellFormed(), undoable, basis }),
  );
}

/** The call that a step of a plan, or a confirm token, stands for: of the tool as it is now. */
export function callSha256(tool: ToolDefinition, argumentsSha256: string): string {
  return hash('sha256', canonicalJson({ ...describeTool(tool), arguments_sha256: argumentsSha256 }));
}

function describeTool(definition: ToolDefinition) {
  const { name, version, fileSha256 = null, risk } = definition;
  const definitionSha256 = hashDefinition(definition);
  return { tool: name, version, file_sha256: fileSha256, definition_sha256: definitionSha256, risk };
}

/** What a program, a server or a pipeline touches is not known: it is the same only with the same arguments. */
function describeScope({ tool, resources, arguments: { sha256 } }: BoundCall) {
  const isKnown = tool.definition.origin === undefined && (resources.commands ?? []).length === 0;
  return { ...describeResources(resources), ...(isKnown ? {} : { arguments_sha256: sha256 }) };
}

function describeResources(resources: Resources) {
  const { paths, hosts = [], commands = [], apps = [], gitOperation = null, provider = null, model = null } = resources;
  return {
    paths: paths.map(({ path, access }) => `${access} ${path.toWellFormed()}`).sort(),
    hosts: [...hosts].sort(),
    commands: commands.map((command) => command.toWellFormed()),
    apps: [...apps].sort(),
    git_operation: gitOperation,
    provider,
    model,
  };
}
