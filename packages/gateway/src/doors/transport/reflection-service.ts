import { create, createRegistry, toBinary } from '@bufbuild/protobuf';
import type { DescFile, MessageInitShape, Registry } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema } from '@bufbuild/protobuf/wkt';
import { grpcStatusOf, reflectionV1, reflectionV1Alpha } from '@sallyport/contract';
import type { ConnectCode } from '@sallyport/contract';
import { doors } from '../../call/call.ts';
import type { Door } from '../../call/call.ts';
import { oneByOne } from './wire/one-by-one.ts';
import { bindService } from './service-binding.ts';
import type { ServiceBinding } from './service-binding.ts';

// Both versions have the same fields; only the names of their messages differ.
type Question = (reflectionV1.ServerReflectionRequest | reflectionV1Alpha.ServerReflectionRequest)['messageRequest'];
type Answer = NonNullable<MessageInitShape<typeof reflectionV1.ServerReflectionResponseSchema>['messageResponse']> &
  NonNullable<MessageInitShape<typeof reflectionV1Alpha.ServerReflectionResponseSchema>['messageResponse']>;

/** Lets clients learn the services of a door without the proto files. Nothing of another door's services is told. */
export function bindReflection(servicesAt: (door: Door) => readonly ServiceBinding[]): ServiceBinding[] {
  const catalogues = new Map<Door, Catalogue>();
  const ask = (question: Question, door: Door): Answer => {
    const catalogue = catalogues.get(door) ?? new Catalogue(servicesAt(door));
    catalogues.set(door, catalogue);
    return catalogue.answer(question);
  };
  return [
    bindService(reflectionV1.ServerReflection, doors, {
      serverReflectionInfo: oneByOne(async function* (
        requests: AsyncIterable<reflectionV1.ServerReflectionRequest>,
        { door },
      ) {
        for await (const originalRequest of requests) {
          yield create(reflectionV1.ServerReflectionResponseSchema, {
            validHost: originalRequest.host,
            originalRequest,
            messageResponse: ask(originalRequest.messageRequest, door),
          });
        }
      }),
    }),
    bindService(reflectionV1Alpha.ServerReflection, doors, {
      serverReflectionInfo: oneByOne(async function* (
        requests: AsyncIterable<reflectionV1Alpha.ServerReflectionRequest>,
        { door },
      ) {
        for await (const originalRequest of requests) {
          yield create(reflectionV1Alpha.ServerReflectionResponseSchema, {
            validHost: originalRequest.host,
            originalRequest,
            messageResponse: ask(originalRequest.messageRequest, door),
          });
        }
      }),
    }),
  ];
}

/** What one door tells. A proto file is told whole, so services of different doors belong in different files. */
class Catalogue {
  readonly #serviceNames: readonly string[];
  readonly #files: ReadonlyMap<string, DescFile>;
  readonly #types: Registry;

  constructor(services: readonly ServiceBinding[]) {
    this.#serviceNames = services.map(({ service }) => service.typeName).sort();
    this.#files = new Map(
      services.flatMap(({ service }) => withImports(service.file)).map((file) => [file.proto.name, file]),
    );
    this.#types = createRegistry(...this.#files.values());
  }

  answer(question: Question): Answer {
    switch (question.case) {
      case 'listServices':
        return {
          case: 'listServicesResponse',
          value: { service: this.#serviceNames.map((name) => ({ name })) },
        };
      case 'fileByFilename':
        return describeFile(this.#files.get(question.value));
      case 'fileContainingSymbol':
        return describeFile(this.#fileOf(question.value));
      case 'allExtensionNumbersOfType':
        if (this.#types.getMessage(question.value) === undefined) return unknown;
        return { case: 'allExtensionNumbersResponse', value: { baseTypeName: question.value, extensionNumber: [] } };
      case 'fileContainingExtension':
        return unknown;
      default:
        return refuse('invalid_argument', 'The question asks nothing.');
    }
  }

  /** Methods, fields and enum values are found through the type that holds them. */
  #fileOf(symbol: string): DescFile | undefined {
    const type = this.#types.get(symbol) ?? this.#types.get(symbol.slice(0, Math.max(symbol.lastIndexOf('.'), 0)));
    return type?.file;
  }
}

function describeFile(file: DescFile | undefined): Answer {
  if (file === undefined) return unknown;
  const fileDescriptorProto = withImports(file).map(({ proto }) => toBinary(FileDescriptorProtoSchema, proto));
  return { case: 'fileDescriptorResponse', value: { fileDescriptorProto } };
}

function refuse(code: ConnectCode, errorMessage: string): Answer {
  return { case: 'errorResponse', value: { errorCode: grpcStatusOf(code), errorMessage } };
}

// Without the name that was asked for, which may be a secret: the question goes back with the answer anyway.
const unknown = refuse('not_found', 'Nothing is known by that name.');

function withImports(file: DescFile): DescFile[] {
  return [...new Set([file, ...file.dependencies.flatMap(withImports)])];
}
