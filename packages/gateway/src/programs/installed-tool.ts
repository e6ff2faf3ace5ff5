import { Fault } from '../call/fault.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import { modes } from '../call/session.ts';
import { ToolRefused } from '../call/tool.ts';
import type { AnyTool, ToolDefinition, ToolStatus } from '../call/tool.ts';
import type { ToolPin } from '../storage/stores.ts';
import { joinVersion } from '../registry/tool-name.ts';
import type { ToolOffer } from './tool-offer.ts';

/** A tool from outside as it stands now. */
export interface InstalledTool {
  /** `name@version`. */
  readonly id: string;
  /** Another one for each state of its bytes and its definition. */
  readonly key: string;
  readonly definition: ToolDefinition;
  readonly status: ToolStatus;
  /** Why it is not `ready`. Empty: it is. */
  readonly reason: string;
  /** Absent: its file is gone. */
  readonly offer?: ToolOffer;
  /** Absent: nobody has accepted it, in whatever form. */
  readonly pin?: ToolPin;
  /** Whether exactly this was accepted. */
  readonly isAccepted: boolean;
}

/** Where a tool stands that is there: accepted or not, in order or not. */
export function judgeOffer(offer: ToolOffer, pin: ToolPin | undefined): InstalledTool {
  const { definition } = offer.tool;
  const { fileSha256, definitionSha256 } = offer;
  const id = idOf(definition);
  // Its schemas are in the hash; the rest of the definition may be assigned anew.
  const { inputSchema: _input, outputSchema: _output, ...assigned } = definition;
  const key = [id, fileSha256, definitionSha256, JSON.stringify(assigned)].join(' ');
  const isAccepted = pin?.fileSha256 === fileSha256 && pin.definitionSha256 === definitionSha256;
  const about = { id, key, definition, offer, isAccepted, ...(pin === undefined ? {} : { pin }) };
  const { trouble } = offer;
  if (trouble !== undefined) return { ...about, status: trouble.status, reason: trouble.reason };
  if (isAccepted) return { ...about, status: 'ready', reason: '' };
  if (pin === undefined) return { ...about, status: 'new', reason: 'nobody has accepted it yet' };
  return { ...about, status: 'changed', reason: 'it has changed since it was accepted' };
}

/** An accepted tool whose file no longer says what it is. It cannot be called or accepted like that. */
export function describeBroken(offer: ToolOffer, pin: ToolPin, description: string): InstalledTool {
  const id = idOf(pin);
  const definition = defineUnknown(pin, offer.origin, description);
  const about = { id, key: `${id} broken ${offer.fileSha256}`, definition, offer, pin, isAccepted: false };
  const trouble = offer.trouble?.reason ?? '';
  if (pin.fileSha256 === offer.fileSha256) return { ...about, status: 'missing-binary', reason: trouble };
  const reason = `its file has changed since it was accepted, and ${trouble}`;
  return { ...about, status: 'changed', reason };
}

/** An accepted tool whose file is gone, or whose server does not offer it. */
export function describeMissing(pin: ToolPin, origin: ToolOffer['origin'], description: string): InstalledTool {
  const id = idOf(pin);
  const reason =
    origin === 'upstream'
      ? 'its server does not offer it now, or has not been reached yet'
      : 'it was accepted, but its file is gone';
  const definition = defineUnknown(pin, origin, description);
  return { id, key: `${id} gone`, definition, status: 'missing-binary', reason, pin, isAccepted: true };
}

/** What can be said of an accepted tool that does not speak for itself now. */
function defineUnknown(pin: ToolPin, origin: ToolOffer['origin'], description: string): ToolDefinition {
  return {
    name: pin.name,
    version: pin.version,
    description,
    aliases: [],
    tags: [],
    category: origin,
    inputSchema: { type: 'object' },
    outputSchema: {},
    risk: 'high',
    confirmation: 'always',
    mutates: true,
    scopes: [],
    allowedModes: modes,
    requiresApproval: false,
    requiresSandbox: true,
    timeoutMs: 10_000,
    idempotent: false,
    audience: 'everyone',
    origin,
  };
}

/** Undefined: it can be called. */
function explainUnusable(tool: InstalledTool): Refusal | undefined {
  const { id, definition, status, reason, offer, isAccepted } = tool;
  if (status === 'missing-binary') {
    return refuse('TOOL_MISSING', 'registry', `${definition.name} cannot run: ${reason}.`, {
      ...(definition.origin === 'upstream' ? { remedy: 'Try again in a while.' } : {}),
      forOperators:
        definition.origin === 'upstream'
          ? '`sallyport upstream list` shows the state of the servers.'
          : offer === undefined
            ? 'Put the file back into the tools folder, or run `sallyport tool remove`.'
            : `See why with \`sallyport tool status ${definition.name}\`, and fix the file.`,
    });
  }
  if (isAccepted) return undefined;
  const why = status === 'schema-unknown' ? 'nobody has accepted it as it is now' : reason;
  return refuse('TOOL_NOT_ACCEPTED', 'registry', `${definition.name} cannot be called: ${why}.`, {
    forOperators:
      definition.origin === 'upstream'
        ? `Look at it and accept it with \`sallyport upstream accept ${definition.name}\`.`
        : isBroken(tool)
          ? `See why with \`sallyport tool status ${definition.name}\`, and fix the file.`
          : `Look at it and accept it with \`sallyport tool accept ${id}\`.`,
  });
}

/** It was accepted with a description and has lost it: something went wrong with the file. */
export function isBroken({ offer, pin, isAccepted }: InstalledTool): boolean {
  return offer?.trouble !== undefined && pin !== undefined && !isAccepted;
}

/** The tool that callers meet: as it was offered, with its standing at the time they ask. */
export class GatedTool implements AnyTool {
  readonly definition: ToolDefinition;
  #installed: InstalledTool;

  constructor(installed: InstalledTool) {
    this.definition = installed.definition;
    this.#installed = installed;
  }

  /** The same bytes and description, in another standing. */
  stand(installed: InstalledTool): void {
    this.#installed = installed;
  }

  readonly status = () => this.#installed.status;
  readonly explainUnusable = () => explainUnusable(this.#installed);
  readonly claim: AnyTool['claim'] = (args, session) => this.#offered().claim(args, session);
  readonly preview: AnyTool['preview'] = async (args, context) => this.#offered().preview(args, context);
  readonly run: AnyTool['run'] = async (args, context) => this.#offered().run(args, context);
  readonly summarize: AnyTool['summarize'] = (args, output) =>
    this.#installed.offer?.tool.summarize(args, output) ?? '';

  /** Asked again at each step: between the first and the last of them the tool may have lost its standing. */
  #offered(): AnyTool {
    const refusal = this.explainUnusable();
    if (refusal !== undefined) throw new ToolRefused(refusal);
    const tool = this.#installed.offer?.tool;
    if (tool === undefined) throw new Fault('INTERNAL', `${this.definition.name} has nothing to run`);
    return tool;
  }
}

function idOf({ name, version }: Pick<ToolDefinition, 'name' | 'version'>): string {
  return joinVersion(name, version);
}
