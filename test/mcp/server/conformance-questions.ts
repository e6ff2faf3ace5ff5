import {
  acceptedContent,
  createRequestStateCodec,
  inputRequired,
  inputResponse,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import type { InputRequest, ServerContext } from '@modelcontextprotocol/server';
import type { Answer } from './conformance-server.ts';

type Properties = Readonly<Record<string, object>>;

export function askFor(message: string, properties: Properties): InputRequest {
  const requestedSchema = { type: 'object', properties, required: Object.keys(properties) };
  return inputRequired.elicit({ message, requestedSchema } as never);
}

function askModel(text: string, maxTokens: number): InputRequest {
  return inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text } }], maxTokens });
}

const say = (text: string): object => ({ content: [{ type: 'text', text }] });
const name: Properties = { name: { type: 'string' } };

/** The tools of the suite that ask their client something, in the way of the older protocol or of the newer one. */
export function conformanceQuestions(key: Uint8Array): Map<string, Answer> {
  return new Map<string, Answer>([...askingAtOnce(), ...askingBetween(key)]);
}

/** While the call runs. */
function askingAtOnce(): readonly (readonly [string, Answer])[] {
  const elicit = (message: string, properties: Properties, required: readonly string[] = []): Answer => {
    return async ({ mcpReq }, args) => {
      const requestedSchema = { type: 'object', properties, required };
      const said = args['message'];
      const asked = { message: typeof said === 'string' ? said : message, requestedSchema };
      const { action, content = {} } = await mcpReq.elicitInput(asked as never);
      return say(`Elicitation completed: action=${action}, content=${JSON.stringify(content)}`);
    };
  };
  return [
    [
      'test_sampling',
      async ({ mcpReq }, { prompt }) => {
        const question = { role: 'user', content: { type: 'text', text: String(prompt) } } as const;
        const { content } = await mcpReq.requestSampling({ messages: [question], maxTokens: 100 });
        return say(`LLM response: ${JSON.stringify(content)}`);
      },
    ],
    [
      'test_elicitation',
      elicit('', { username: { type: 'string' }, email: { type: 'string' } }, ['username', 'email']),
    ],
    [
      'test_elicitation_sep1034_defaults',
      elicit('Look at the defaults', {
        name: { type: 'string', default: 'John Doe' },
        age: { type: 'integer', default: 30 },
        score: { type: 'number', default: 95.5 },
        status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
        verified: { type: 'boolean', default: true },
      }),
    ],
    ['test_elicitation_sep1330_enums', elicit('Choose', choices)],
  ];
}

const options = ['option1', 'option2', 'option3'];
const titled = (kind: string): object[] =>
  ['First', 'Second', 'Third'].map((title, at) => ({ const: `value${at + 1}`, title: `${title} ${kind}` }));

const choices: Properties = {
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titled('Option') },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled('Choice') } },
};

/** Between two requests. */
function askingBetween(key: Uint8Array): readonly (readonly [string, Answer])[] {
  const codec = createRequestStateCodec<string>({ key });
  const readState = async (context: ServerContext): Promise<string | undefined> => {
    const state = context.mcpReq.requestState<string>();
    if (state === undefined) return undefined;
    try {
      return await codec.verify(state, context);
    } catch {
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The state was changed.');
    }
  };
  const confirm = askFor('Please confirm', { ok: { type: 'boolean' } });
  const confirmed: Answer = async (context) => {
    const state = await readState(context);
    if (state === undefined || acceptedContent(context.mcpReq.inputResponses, 'confirm') === undefined) {
      return inputRequired({ inputRequests: { confirm }, requestState: await codec.mint('asked') });
    }
    return say('state-ok');
  };
  return [
    ['test_input_required_result_request_state', confirmed],
    ['test_input_required_result_tampered_state', confirmed],
    ['test_input_required_result_elicitation', askName],
    ['test_streaming_elicitation', askName],
    [
      'test_input_required_result_sampling',
      askOnce('capital_question', 'sampling', askModel('What is the capital of France?', 100)),
    ],
    ['test_input_required_result_list_roots', askOnce('client_roots', 'roots', inputRequired.listRoots())],
    [
      'test_input_required_result_multiple_inputs',
      async (context) => {
        const questions = {
          user_name: askFor('What is your name?', name),
          greeting: askModel('Generate a greeting', 50),
          client_roots: inputRequired.listRoots(),
        };
        const isAnswered = (each: string): boolean =>
          inputResponse(context.mcpReq.inputResponses, each).kind !== 'missing';
        if ((await readState(context)) !== undefined && Object.keys(questions).every(isAnswered))
          return say('All said.');
        return inputRequired({ inputRequests: questions, requestState: await codec.mint('asked') });
      },
    ],
    [
      'test_input_required_result_multi_round',
      async (context) => {
        const round = await readState(context);
        if (round === 'second') return say('Both steps were taken.');
        const [step, question, next]: readonly [string, InputRequest, string] =
          round === 'first'
            ? ['step2', askFor('Step 2: What is your favorite color?', { color: { type: 'string' } }), 'second']
            : ['step1', askFor('Step 1: What is your name?', name), 'first'];
        return inputRequired({
          inputRequests: { [step]: question },
          requestState: await codec.mint(next),
        });
      },
    ],
    [
      'test_input_required_result_capabilities',
      (_context, _args, server) => {
        const { elicitation, sampling } = server.getClientCapabilities() ?? {};
        return inputRequired({
          inputRequests: {
            ...(elicitation === undefined ? {} : { user_name: askFor('What is your name?', name) }),
            ...(sampling === undefined ? {} : { greeting: askModel('Generate a greeting', 50) }),
          },
        });
      },
    ],
    [
      'test_missing_capability',
      () => {
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
      },
    ],
  ];
}

const askName: Answer = ({ mcpReq }) => {
  const said = acceptedContent(mcpReq.inputResponses, 'user_name');
  if (typeof said?.['name'] === 'string') return say(`Hello, ${said['name']}!`);
  return inputRequired({ inputRequests: { user_name: askFor('What is your name?', name) } });
};

function askOnce(key: string, kind: 'sampling' | 'roots', question: InputRequest): Answer {
  return ({ mcpReq }) => {
    const answer = inputResponse(mcpReq.inputResponses, key);
    return answer.kind === kind ? say(JSON.stringify(answer)) : inputRequired({ inputRequests: { [key]: question } });
  };
}
