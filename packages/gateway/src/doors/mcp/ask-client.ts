import type {
  ClientCapabilities,
  CreateMessageRequest,
  ElicitRequestFormParams,
  Server,
} from '@modelcontextprotocol/server';
import type { JsonObject } from '@sallyport/contract';
import type { AskCaller, CallerQuestion } from '../../call/tool.ts';

/** The call has its own end; a person may take as long as it does. */
const timeout = 24 * 3600 * 1000;

/** Which questions a client answers. Undefined: none. */
export function answersOf({ elicitation, sampling }: ClientCapabilities = {}):
  | ((question: CallerQuestion) => boolean)
  | undefined {
  if (elicitation === undefined && sampling === undefined) return undefined;
  return ({ method, params }) => {
    if (method === 'sampling/createMessage') return sampling !== undefined;
    if (params['mode'] === 'url') return elicitation?.url !== undefined;
    return elicitation !== undefined && (elicitation.form ?? !elicitation.url) !== false;
  };
}

/** Puts questions of the tool that is called to a client of the older protocol, which is asked while the call runs. */
export function askClient(server: Server): AskCaller | undefined {
  const isAnswered = answersOf(server.getClientCapabilities());
  if (isAnswered === undefined) return undefined;
  return async (question, signal) => {
    if (!isAnswered(question)) return undefined;
    const { method, params } = question;
    const options = { signal, timeout };
    if (method === 'elicitation/create') {
      const answer = await server.elicitInput(params as unknown as ElicitRequestFormParams, options);
      return answer as unknown as JsonObject;
    }
    const answer = await server.createMessage(params as unknown as CreateMessageRequest['params'], options);
    return answer as unknown as JsonObject;
  };
}
