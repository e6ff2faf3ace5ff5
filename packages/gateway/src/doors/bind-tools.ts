import { fromJson, toJson } from '@bufbuild/protobuf';
import type { DescMessage, DescMethod, DescService, JsonValue, Message, MessageShape } from '@bufbuild/protobuf';
import type { CallOptions, InJson, JsonObject } from '@sallyport/contract';
import type { Door } from '../call/call.ts';
import type { AnyTool, ToolDefinition } from '../call/tool.ts';
import type { OperatorTool, ServedMethod } from '../registry/define-operator-tool.ts';
import { submitAsOperator } from './submit-as-operator.ts';
import type { OperatorParts } from './submit-as-operator.ts';
import { submitTool } from './submit-tool.ts';
import { RpcError } from './transport/rpc-error.ts';
import type { AnyHandler, HandlersOf, ServiceBinding, UnaryHandler } from './transport/service-binding.ts';

export interface ToolBindingParts extends OperatorParts {
  /** Those that serve methods are found among them. */
  readonly tools: readonly AnyTool[];
}

/**
 * A service whose methods are governed calls of tools: the request is the arguments of the tool and its output is the
 * response. What else a method needs, such as a stream, `own` has. Throws for a method that nothing serves.
 */
export function bindTools<Service extends DescService>(
  service: Service,
  doors: readonly Door[],
  parts: ToolBindingParts,
  own: Partial<HandlersOf<Service>> = {},
): ServiceBinding {
  const given = own as Readonly<Record<string, AnyHandler | undefined>>;
  const methods = service.methods.map((method): [string, AnyHandler] => {
    const serving = parts.tools.flatMap(({ definition, served }: OperatorTool) =>
      served?.method === method ? [{ ...definition, ...served }] : [],
    );
    const handler = given[method.localName] ?? (serving.length > 0 ? callTools(method, serving, parts) : undefined);
    if (handler === undefined) throw new Error(`No tool serves ${service.typeName}.${method.name}.`);
    return [method.localName, handler];
  });
  return { service, doors, whole: 'all', methods: Object.fromEntries(methods) };
}

/** A message from its JSON. */
export function messageOf<Schema extends DescMessage>(
  schema: Schema,
  json: InJson<MessageShape<Schema>>,
): MessageShape<Schema> {
  return fromJson(schema, json as unknown as JsonValue);
}

function callTools(
  { input, output: answer }: DescMethod,
  tools: readonly (ServedMethod & ToolDefinition)[],
  parts: ToolBindingParts,
): UnaryHandler<Message, Message> {
  const hasReceipt = answer.fields.some(({ name }) => name === 'call');
  return async (message, peer) => {
    const { call: _call, ...request } = toJson(input, message, { useProtoFieldName: true }) as JsonObject;
    const tool = tools.find(({ serves }) => serves(request));
    if (tool === undefined) throw new RpcError('invalid_argument', 'Nothing serves such a request.');
    const args = tool.argumentsOf(request);
    const { call } = message as { readonly call?: CallOptions };
    const { output, receipt } =
      tool.audience === 'operator'
        ? await submitAsOperator(parts, tool.name, args, call, peer)
        : await submitTool(parts.submit, tool.name, args, call, peer);
    return fromJson(answer, { ...output, ...(hasReceipt ? { call: { ...receipt } } : {}) });
  };
}
