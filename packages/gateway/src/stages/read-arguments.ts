import { isJsonObject, parseStrictJson, spellBytes, StrictJsonError } from '@sallyport/contract';
import type { Json } from '@sallyport/contract';
import type { ArgumentsRead, Begun, Draft, Opened } from '../call/call.ts';
import { refuse } from '../call/refusal.ts';
import type { Refusal } from '../call/refusal.ts';
import type { Passed, Stage } from '../call/stage.ts';
import { harmlessBytes, hasTooManyParts, maxParts, TooManyParts } from '../text/json-parts.ts';
import { largeJson, largeLength } from '../text/large-json.ts';

const leastForOperators = 64 * 1024;

/**
 * Reads the arguments as one JSON object, strictly. After the session, so that the daemon parses nothing for strangers.
 */
export function readArguments({
  maxArgumentBytes,
}: {
  readonly maxArgumentBytes: () => number;
}): Stage<Begun & Opened, ArgumentsRead> {
  return {
    name: 'read-arguments',
    run: (call) => {
      const { input, parsedInput, violations, claimedAgent } = call;
      const { agent, principal } = call.session;
      if (claimedAgent !== undefined && claimedAgent !== agent) {
        // The credential says who calls; a call cannot name another agent.
        const message = `The credential belongs to the agent ${JSON.stringify(agent)}; the call names another.`;
        const remedy = 'Name the agent that the session was created for, or none.';
        return refuse('MALFORMED_CALL', 'agent-claim', message, { remedy });
      }
      if (violations !== undefined) {
        const message = violations.map((violation) => violation.message).join('; ');
        return refuse('MALFORMED_CALL', 'call-shape', message, { violations });
      }
      // A limit that is set too low must not keep an operator from raising it.
      const limit = principal === 'operator' ? Math.max(maxArgumentBytes(), leastForOperators) : maxArgumentBytes();
      // A character takes at least one byte, so almost every call passes the cheap test and needs no exact one.
      if (input.length > limit || (input.length > limit / 3 && Buffer.byteLength(input) > limit)) {
        return refuse('ARGUMENTS_TOO_LARGE', 'argument-size', `The arguments are larger than ${spellBytes(limit)}.`, {
          remedy: 'Send less at once, for example by writing in parts with append.',
        });
      }
      if (parsedInput !== undefined) return take(call, parsedInput);
      if (input.length >= largeLength) {
        return largeJson.parseArguments(input).then((value) => take(call, value), explainUnread);
      }
      try {
        return take(call, parseArguments(input));
      } catch (error) {
        return explainUnread(error);
      }
    },
  };
}

function parseArguments(input: string): Json {
  if (input.length > harmlessBytes && hasTooManyParts(Buffer.from(input))) throw new TooManyParts();
  return parseStrictJson(input === '' ? '{}' : input);
}

function take(call: Draft<ArgumentsRead>, value: Json): Passed {
  if (isJsonObject(value)) {
    call.rawArguments = value;
    return undefined;
  }
  return refuse('MALFORMED_ARGUMENTS', 'canonical-json', 'The arguments are not a JSON object.', {
    remedy: 'Send an object, such as {"path": "notes.md"}.',
  });
}

function explainUnread(error: unknown): Refusal {
  if (error instanceof TooManyParts) {
    return refuse('ARGUMENTS_TOO_LARGE', 'argument-size', `The arguments have more than ${maxParts} parts.`, {
      remedy: 'Send less at once.',
    });
  }
  if (!(error instanceof StrictJsonError)) throw error;
  const message = `The arguments are not acceptable JSON: ${error.message}.`;
  return refuse('MALFORMED_ARGUMENTS', 'canonical-json', message, {
    remedy: 'Send one JSON object without repeated keys, with numbers that a double can hold.',
  });
}
