import type { DescMessage, MessageJsonType, MessageShape } from '@bufbuild/protobuf';
import type { GenService, GenServiceMethods } from '@bufbuild/protobuf/codegenv2';
import type * as contract from '../index.ts';
import type { InJson } from '../in-json.ts';

// All of this is types: who speaks JSON needs neither the descriptors nor the protobuf library.

type Contract = typeof contract;
type MethodsOf<Service> = Service extends GenService<infer Shape extends GenServiceMethods> ? Shape : never;
type ServiceName = {
  [Name in keyof Contract]: Contract[Name] extends GenService<GenServiceMethods> ? Name : never;
}[keyof Contract];

/** Those that leave out fields with their default value; all others write every field. */
type Sparse = `ToolService/Execute${string}` | `ToolProtocolService/${string}` | `ContentService/${string}`;

/** Every method of the contract by its place on the wire, such as `ToolService/ExecuteTool`. */
type Path = PathsOf<ServiceName>;
type PathsOf<Name extends ServiceName> = Name extends ServiceName
  ? `${Name}/${Capitalize<keyof MethodsOf<Contract[Name]> & string>}`
  : never;

type Method = { readonly methodKind: string; readonly input: DescMessage; readonly output: DescMessage };
type Find<At extends string> = At extends `${infer Name extends ServiceName}/${infer Local}`
  ? Extract<Member<MethodsOf<Contract[Name]>, Uncapitalize<Local>>, Method>
  : never;
type Member<Shape, Name extends string> = Name extends keyof Shape ? Shape[Name] : never;
type OfKind<Kind extends string> = { [At in Path]: Find<At>['methodKind'] extends Kind ? At : never }[Path];

export type UnaryMethod = OfKind<'unary'>;
/** Methods whose answers stream. */
export type WatchMethod = OfKind<'server_streaming'>;

export type RequestOf<At extends string> = MessageJsonType<Find<At>['input']>;
export type AnswerOf<At extends string> = At extends Sparse
  ? MessageJsonType<Find<At>['output']>
  : InJson<MessageShape<Find<At>['output']>>;
