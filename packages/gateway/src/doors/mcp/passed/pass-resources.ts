import { ResourceNotFoundError, specTypeSchemas } from '@modelcontextprotocol/server';
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import type { Json, JsonObject } from '@sallyport/contract';
import { hasHiddenText, isJsonObject, makeVisible } from '@sallyport/contract';
import { passedTags } from '../../../upstreams/pass-through.ts';
import { upstreamName } from '../../../upstreams/upstream-config.ts';
import type { CallParts } from '../call-tool.ts';
import { callerOf } from '../caller.ts';
import type { OfferedTools } from '../offered-tools.ts';
import { invalidAnswer, outputOf, refusePassed, submitPassed } from './submit-passed.ts';
import type { PassedRequest } from './submit-passed.ts';

export interface PassParts extends CallParts {
  readonly tools: OfferedTools;
}

const scheme = 'sallyport://upstream/';
/** Of all servers together. */
const mostListed = 2000;

/** How clients name a resource of a server: its own address, behind the name of the server. Templates stay templates. */
function nameResource(upstream: string, uri: string): string {
  return `${scheme}${upstream}/${uri}`;
}

/** Undefined: it is no such address. */
export function parsePassed(uri: string): { readonly upstream: string; readonly uri: string } | undefined {
  if (!uri.startsWith(scheme)) return undefined;
  const [upstream = '', ...rest] = uri.slice(scheme.length).split('/');
  return upstreamName.test(upstream) && rest.length > 0 ? { upstream, uri: rest.join('/') } : undefined;
}

/**
 * The resources or templates of all servers whose lists the session may ask for. What a server refuses or does not answer
 * is left out, so that one server does not cost the others their place; the record says why.
 */
export async function listPassed(
  parts: PassParts,
  asked: PassedRequest,
  { tool, key, address }: { readonly tool: string; readonly key: string; readonly address: string },
): Promise<readonly JsonObject[]> {
  const { session } = callerOf(asked.context);
  const names = parts.tools.passed(session, Date.now(), passedTags.resources).map(({ name }) => name);
  const lists = await Promise.all(
    names
      .filter((name) => name.endsWith(`.${tool}`))
      .map(async (name) => {
        const upstream = name.slice(0, -tool.length - 1);
        const output = outputOf(await submitPassed(parts, asked, { tool: name, args: {}, waits: false }));
        const listed = output !== undefined && isJsonObject(output) ? output[key] : undefined;
        const entries: readonly Json[] = Array.isArray(listed) ? listed : [];
        return entries.flatMap((each) => describeListed(each, upstream, address));
      }),
  );
  return lists.flat().slice(0, mostListed);
}

/** Without what a person or a model could not see. */
function describeListed(listed: Json, upstream: string, address: string): readonly JsonObject[] {
  if (!isJsonObject(listed)) return [];
  const { title, description, mimeType, size } = listed;
  const isSeen = (text: Json | undefined): text is string => typeof text === 'string' && !hasHiddenText(text);
  const { [address]: uri, name } = listed;
  const labels = Object.entries({ title, mimeType }).filter(([, label]) => label !== undefined);
  if (!isSeen(uri) || !isSeen(name) || !labels.every(([, label]) => isSeen(label))) return [];
  return [
    {
      [address]: nameResource(upstream, uri),
      name: `${upstream}: ${name}`,
      ...(Object.fromEntries(labels) as JsonObject),
      ...(typeof description === 'string' ? { description: makeVisible(description) } : {}),
      ...(typeof size === 'number' ? { size } : {}),
    },
  ];
}

/** A resource of a server behind the gate, read by a governed call. */
export async function readPassed(parts: PassParts, asked: PassedRequest, address: string): Promise<ReadResourceResult> {
  const named = parsePassed(address);
  if (named === undefined) throw new ResourceNotFoundError(address);
  const { upstream, uri } = named;
  const answer = await submitPassed(parts, asked, { tool: `${upstream}.resources.read`, args: { uri }, waits: true });
  const { problem, output } = answer;
  if (problem?.code === 'UNKNOWN_TOOL') throw new ResourceNotFoundError(address);
  if (problem !== undefined) throw refusePassed(problem, parts);
  if (output?.kept !== undefined) {
    const text = `The resource is too large for an answer. It is kept as sallyport://content/${output.kept.hash}: read that resource.`;
    return { contents: [{ uri: address, mimeType: 'text/plain', text }] };
  }
  const read = specTypeSchemas.ReadResourceResult['~standard'].validate(outputOf(answer));
  if (read.issues !== undefined) throw invalidAnswer('a resource');
  return { contents: read.value.contents.map((part) => ({ ...part, uri: nameResource(upstream, part.uri) })) };
}
