import type { CreateMessageRequest, ElicitRequestFormParams, Server } from '@modelcontextprotocol/server';
import type { JsonObject } from '@sallyport/contract';
import type { Received } from '../../call/call.ts';

/** The call has its own end; a person may take as long as it does. */
const timeout = 24 * 3600 * 1000;

/**
 * Puts questions of the tool that is called to the client that called it, as far as the client answers such. Only clients
 * of the older protocol can be asked while a call runs.
 */
export function askClient(server: Server): Pick<Received, 'askCaller'> {
  const { elicitation, sampling } = server.getClientCapabilities() ?? {};
  if (elicitation === undefined && sampling === undefined) return {};
  const isAnswered = (isUrl: boolean): boolean =>
    isUrl
      ? elicitation?.url !== undefined
      : elicitation !== undefined && (elicitation.form ?? !elicitation.url) !== false;
  return {
    askCaller: async ({ method, params }, signal) => {
      const options = { signal, timeout };
      if (method === 'elicitation/create') {
        if (!isAnswered(params['mode'] === 'url')) return undefined;
        const answer = await server.elicitInput(params as unknown as ElicitRequestFormParams, options);
        return answer as unknown as JsonObject;
      }
      if (sampling === undefined) return undefined;
      const answer = await server.createMessage(params as unknown as CreateMessageRequest['params'], options);
      return answer as unknown as JsonObject;
    },
  };
}
