import type { DescMessage, DescMethod, MessageShape } from '@bufbuild/protobuf';
import type { InJson, Json, JsonObject } from '@sallyport/contract';
import { modes } from '../call/session.ts';
import type { AnyTool, Effect, Resources, ToolContext, ToolDefinition } from '../call/tool.ts';
import type { Session } from '../call/session.ts';
import { describeMessage } from './schemas/describe-message.ts';
import type { Properties, ValuesOf } from './schemas/schema.ts';

/** A method of the contract, or a message, which is the output of the tool; its receipt is not for the tool to give. */
export type Answers = Pick<DescMethod, 'kind' | 'output' | 'input'> | DescMessage | JsonObject;

type OutputOf<Given extends Answers> = Given extends { readonly output: infer Output extends DescMessage }
  ? Omit<InJson<MessageShape<Output>>, 'call'>
  : Given extends DescMessage
    ? InJson<MessageShape<Given>>
    : JsonObject;

export interface OperatorToolOptions<Named extends Properties, Required extends string, Given extends Answers>
  extends
    Pick<ToolDefinition, 'name' | 'description' | 'mutates' | 'secretArguments'>,
    Partial<
      Pick<
        ToolDefinition,
        | 'aliases'
        | 'tags'
        | 'category'
        | 'risk'
        | 'confirmation'
        | 'requiresApproval'
        | 'audience'
        | 'allowedModes'
        | 'timeoutMs'
        | 'idempotent'
        | 'isTransfer'
        | 'examples'
        | 'undo'
      >
    > {
  /** Absent: none. */
  readonly properties?: Named;
  readonly required?: readonly Required[];
  /** The method that is the governed call of this tool; else the message, or the schema, of the output. */
  readonly answers: Given;
  /** The arguments for a request, whose fields have their names in the contract. Absent: they are the same. */
  readonly argumentsOf?: ServedMethod['argumentsOf'];
  /** Which of the requests are for this tool. Absent: all of them. */
  readonly serves?: (request: JsonObject) => boolean;
  readonly claim?: (args: ValuesOf<Named, Required>, session: Session) => Resources;
  /** What differs from the description alone, and from being undoable when it changes nothing. */
  readonly preview?: (
    args: ValuesOf<Named, Required>,
    context: ToolContext,
  ) => Partial<Effect> | Promise<Partial<Effect>>;
  readonly run: (args: ValuesOf<Named, Required>, context: ToolContext) => OutputOf<Given> | Promise<OutputOf<Given>>;
  readonly summarize: (args: ValuesOf<Named, Required>, output: OutputOf<Given>) => string;
}

/** How requests of a method become calls of a tool. */
export interface ServedMethod {
  readonly method: Pick<DescMethod, 'kind' | 'output' | 'input'>;
  readonly serves: (request: JsonObject) => boolean;
  /** What is undefined is not given. */
  readonly argumentsOf: (request: JsonObject) => Readonly<Record<string, Json | undefined>>;
}

export interface OperatorTool extends AnyTool {
  /** Absent: no method calls it. */
  readonly served?: ServedMethod;
}

/** A tool that people use to run the gate. It touches nothing outside; agents do not see it unless it says so. */
export function defineOperatorTool<
  const Named extends Properties = {},
  const Required extends string = never,
  const Given extends Answers = Answers,
>(options: OperatorToolOptions<Named, Required, Given>): OperatorTool {
  const { name, description, mutates, properties = {}, required = [], answers, secretArguments } = options;
  const { argumentsOf = (request) => request, serves = () => true, claim, preview, run, summarize } = options;
  // The gate passes only arguments that fit the input schema and outputs that came from `run`.
  const read = (args: JsonObject) => args as ValuesOf<Named, Required>;
  const method = isMethod(answers) ? answers : undefined;
  return {
    definition: {
      name,
      aliases: options.aliases ?? [],
      version: '1.0.0',
      description,
      tags: options.tags ?? ['administration'],
      category: options.category ?? 'administration',
      inputSchema: { type: 'object', additionalProperties: false, required, properties },
      outputSchema: schemaOf(answers),
      risk: options.risk ?? (mutates ? 'medium' : 'low'),
      confirmation: options.confirmation ?? 'never',
      mutates,
      scopes: [],
      allowedModes: options.allowedModes ?? modes,
      requiresApproval: options.requiresApproval ?? false,
      requiresSandbox: false,
      timeoutMs: options.timeoutMs ?? 30_000,
      idempotent: options.idempotent ?? !mutates,
      audience: options.audience ?? 'operator',
      ...(options.isTransfer === undefined ? {} : { isTransfer: options.isTransfer }),
      ...(secretArguments === undefined ? {} : { secretArguments }),
      ...(options.examples === undefined ? {} : { examples: options.examples }),
      ...(options.undo === undefined ? {} : { undo: options.undo }),
    },
    ...(method === undefined ? {} : { served: { method, serves, argumentsOf } }),
    claim: (args, session) => claim?.(read(args), session) ?? { paths: [] },
    preview: async (args, context) => {
      return { summary: description, detail: '', undoable: !mutates, ...(await preview?.(read(args), context)) };
    },
    run: async (args, context) => run(read(args), context),
    // A person reads the answer whole, at once; it is never kept as content in its place.
    measureResult: () => 0,
    summarize: (args, output) => summarize(read(args), output as OutputOf<Given>),
  };
}

function isMethod(answers: Answers): answers is Pick<DescMethod, 'kind' | 'output' | 'input'> {
  return answers['kind'] === 'rpc';
}

function schemaOf(answers: Answers): JsonObject {
  if (isMethod(answers)) {
    return describeMessage({ fields: answers.output.fields.filter(({ name }) => name !== 'call') });
  }
  return answers['kind'] === 'message' ? describeMessage(answers as DescMessage) : (answers as JsonObject);
}
