import assert from 'node:assert/strict';
import { toBinary } from '@bufbuild/protobuf';
import { parseStrictJson, ToolResponseSchema } from '@sallyport/contract';
import type { ToolRequest, ToolResponse } from '@sallyport/contract';
import { decodeBinary, decodeJson } from '../../packages/gateway/src/doors/transport/wire/message-codec.ts';
import { tabulateMethods } from '../../packages/gateway/src/doors/transport/method-table.ts';
import type { UnaryMethod } from '../../packages/gateway/src/doors/transport/method-table.ts';
import type { Peer } from '../../packages/gateway/src/doors/transport/peer.ts';
import { RpcError } from '../../packages/gateway/src/doors/transport/rpc-error.ts';
import { toolProtocolService } from '../../packages/gateway/src/doors/typed/serve.ts';
import { ownText } from '../../packages/gateway/src/call/redacted.ts';
import type { Submission } from '../../packages/gateway/src/call/submission.ts';
import { Transfers } from '../../packages/gateway/src/content/transfers.ts';
import { refuse } from '../../packages/gateway/src/call/refusal.ts';
import { answerOf } from '../../packages/gateway/src/daemon/answer-call.test-kit.ts';

/** What became of bytes that came in: no request, a request with violations, or a call for the gateway to judge. */
export type Fate =
  | { readonly kind: 'undecodable'; readonly error: RpcError }
  | { readonly kind: 'malformed' | 'submitted'; readonly response: ToolResponse; readonly call: Submission };

const { signal: still } = new AbortController();
const peer: Peer = {
  door: 'tcp',
  source: '127.0.0.1',
  headers: () => undefined,
  cancellation: still,
  signal: still,
  deadlineMs: undefined,
  readBody: () => assert.fail('the body has been read'),
  recognise: () => undefined,
  letGo: () => undefined,
  cancel: () => undefined,
};

/** The typed door as the transport uses it, from bytes to the encoded answer, with a gateway that refuses all calls. */
export class InMemoryDoor {
  readonly #execute: UnaryMethod;
  #call: Submission | undefined;

  constructor() {
    const service = toolProtocolService({
      store: { findSessionByToken: () => undefined },
      uploads: new Transfers(),
      submit: async (call) => {
        this.#call = call;
        const refusal = refuse('NO_RULE_ALLOWS', 'default-deny', 'No rule allows it.');
        return answerOf({ kind: 'refused', call, refusal, stage: 'judge-call' });
      },
      redact: ownText,
      onFault: (error) => {
        throw error;
      },
    });
    const method = tabulateMethods([service], 'tcp').get('/sallyport.v1.ToolProtocolService/Execute');
    assert.ok(method?.kind === 'unary');
    this.#execute = method;
  }

  receive(bytes: Uint8Array): Promise<Fate> {
    return this.#answer(() => decodeBinary(this.#execute, bytes) as ToolRequest);
  }

  receiveJson(text: string): Promise<Fate> {
    return this.#answer(() => decodeJson(this.#execute, Buffer.from(text)) as ToolRequest);
  }

  async #answer(decode: () => ToolRequest): Promise<Fate> {
    let request: ToolRequest;
    try {
      request = decode();
    } catch (error) {
      assert.ok(error instanceof RpcError, `an error of another kind: ${String(error)}`);
      return { kind: 'undecodable', error };
    }
    this.#call = undefined;
    const response = (await this.#execute.run(request, peer)) as ToolResponse;
    const call = this.#call as Submission | undefined;
    assert.ok(call !== undefined, 'every request is put on record');
    assert.equal(response.requestId, request.requestId);
    assert.ok(response.result.case === 'denied');
    toBinary(ToolResponseSchema, response);
    if (call.violations !== undefined) return { kind: 'malformed', response, call };
    // What goes on is JSON that the gateway reads as it was meant.
    assert.equal(JSON.stringify(parseStrictJson(call.input)), call.input);
    return { kind: 'submitted', response, call };
  }
}
