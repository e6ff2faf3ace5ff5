import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import type { TestContext } from 'node:test';
import { credentials, loadPackageDefinition, status } from '@grpc/grpc-js';
import type { GrpcObject, ServiceClientConstructor } from '@grpc/grpc-js';
import { loadFileDescriptorSetFromBuffer } from '@grpc/proto-loader';
import type { Health } from '../../packages/gateway/src/doors/transport/health-service.ts';
import { requirement } from '../requirement.ts';
import { openEchoDoors } from './echo-doors.ts';
import { callUnary, openBidiStream, openGrpcClient, openServerStream } from './grpc-client.ts';
import type { Fields, GrpcClient } from './grpc-client.ts';
import { askHttp, askJson } from './http-exchange.ts';
import type { Target } from './http-exchange.ts';

const sealed: Health = { status: 'sealed', reason: 'The log cannot be written.' };

describe('health', () => {
  it('is told at /healthz, with the reason when the daemon is sealed', async (test) => {
    requirement('WIRE-4');
    let present: Health = { status: 'serving' };
    const { port, operatorSocket, agentSocket } = await openEchoDoors(test, undefined, { health: () => present });
    for (const target of [port, operatorSocket, agentSocket]) {
      const answer = await askHttp(target, { method: 'GET', path: '/healthz' });
      assert.deepEqual([answer.status, answer.body.toString()], [200, '{"status":"serving"}']);
    }
    present = sealed;
    const answer = await askHttp(port, { method: 'GET', path: '/healthz?verbose' });
    assert.equal(answer.status, 503);
    assert.deepEqual(JSON.parse(answer.body.toString()), sealed);
    const posted = await askHttp(port, { method: 'POST', path: '/healthz' });
    assert.deepEqual([posted.status, posted.headers.allow], [405, 'GET']);
  });

  it('is told by the gRPC health service, for the whole and for each service of the door', async (test) => {
    requirement('WIRE-4');
    let present: Health = { status: 'serving' };
    const { port, operatorSocket } = await openEchoDoors(test, undefined, { health: () => present });
    const client = openGrpcClient(test, 'grpc.health.v1.Health', port);
    for (const service of ['', 'sallyport.v1.ToolService', 'grpc.health.v1.Health']) {
      assert.deepEqual(await callUnary(client, 'Check', { service }), { status: 'SERVING' });
    }
    present = sealed;
    assert.deepEqual(await callUnary(client, 'Check', { service: '' }), { status: 'NOT_SERVING' });
    const operatorOnly = { service: 'sallyport.v1.OperatorService' };
    await assert.rejects(callUnary(client, 'Check', operatorOnly), { code: status.NOT_FOUND });
    const operator = openGrpcClient(test, 'grpc.health.v1.Health', operatorSocket);
    assert.deepEqual(await callUnary(operator, 'Check', operatorOnly), { status: 'NOT_SERVING' });
  });

  it('can be asked over Connect', async (test) => {
    const { port } = await openEchoDoors(test);
    const { json } = await askJson(port, {}, { path: '/grpc.health.v1.Health/Check' });
    assert.deepEqual(json, { status: 'SERVING' });
  });

  it('can be watched: the present status first, then every change', async (test) => {
    requirement('WIRE-4');
    let present: Health = { status: 'serving' };
    const { port } = await openEchoDoors(test, undefined, { health: () => present, healthPollMs: 5 });
    const client = openGrpcClient(test, 'grpc.health.v1.Health', port);
    const watch = openServerStream(client, 'Watch', { service: '' });
    watch.on('error', () => {});
    assert.deepEqual(await once(watch, 'data'), [{ status: 'SERVING' }]);
    present = sealed;
    assert.deepEqual(await once(watch, 'data'), [{ status: 'NOT_SERVING' }]);
    present = { status: 'serving' };
    assert.deepEqual(await once(watch, 'data'), [{ status: 'SERVING' }]);
    watch.cancel();
    const unknown = openServerStream(client, 'Watch', { service: 'no.such.Service' });
    unknown.on('error', () => {});
    assert.deepEqual(await once(unknown, 'data'), [{ status: 'SERVICE_UNKNOWN' }]);
    unknown.cancel();
  });
});

/** Asks one stream all questions, in order. */
async function askReflection(client: GrpcClient, questions: readonly Fields[]): Promise<Fields[]> {
  const stream = openBidiStream(client, 'ServerReflectionInfo');
  const answers: Fields[] = [];
  stream.on('data', (answer: Fields) => answers.push(answer));
  for (const question of questions) stream.write(question);
  stream.end();
  await once(stream, 'end');
  return answers;
}

async function listServices(test: TestContext, version: string, target: Target): Promise<string[]> {
  const client = openGrpcClient(test, `grpc.reflection.${version}.ServerReflection`, target);
  const [answer] = await askReflection(client, [{ list_services: '' }]);
  const list = answer?.['list_services_response'] as { service: { name: string }[] };
  return list.service.map(({ name }) => name);
}

describe('reflection', () => {
  const everywhere = [
    'grpc.health.v1.Health',
    'grpc.reflection.v1.ServerReflection',
    'grpc.reflection.v1alpha.ServerReflection',
  ];

  it('lists the services of the door, in both versions, and none of another door', async (test) => {
    requirement('WIRE-4');
    const { port, operatorSocket, agentSocket } = await openEchoDoors(test);
    for (const version of ['v1', 'v1alpha']) {
      for (const target of [port, agentSocket]) {
        assert.deepEqual(await listServices(test, version, target), [...everywhere, 'sallyport.v1.ToolService']);
      }
      assert.deepEqual(await listServices(test, version, operatorSocket), [
        ...everywhere,
        'sallyport.v1.OperatorService',
        'sallyport.v1.ToolService',
      ]);
    }
  });

  it('tells enough for a client without proto files to call a method', async (test) => {
    requirement('WIRE-4');
    const { port } = await openEchoDoors(test);
    const reflection = openGrpcClient(test, 'grpc.reflection.v1.ServerReflection', port);
    const [answer] = await askReflection(reflection, [{ file_containing_symbol: 'sallyport.v1.ToolService' }]);
    const response = answer?.['file_descriptor_response'] as { file_descriptor_proto: Buffer[] } | undefined;
    const files = response?.file_descriptor_proto ?? [];
    // A FileDescriptorSet is its files as field 1; the lengths here need two bytes each.
    const set = Buffer.concat(
      files.flatMap((file) => [Buffer.from([0x0a, (file.length & 0x7f) | 0x80, file.length >> 7]), file]),
    );
    const described = loadPackageDefinition(loadFileDescriptorSetFromBuffer(set, { keepCase: true }));
    const { ToolService } = (described['sallyport'] as GrpcObject)['v1'] as GrpcObject;
    const client = new (ToolService as ServiceClientConstructor)(`127.0.0.1:${port}`, credentials.createInsecure());
    test.after(() => client.close());
    const called = await callUnary(client, 'ExecuteTool', {
      name: 'x',
      input_json: '{"a":1}',
    });
    assert.deepEqual(called['success'], { output_json: '{"a":1}' });
  });

  it('finds methods and files by name, and answers for what it does not know without ending the stream', async (test) => {
    const { port } = await openEchoDoors(test);
    const client = openGrpcClient(test, 'grpc.reflection.v1.ServerReflection', port);
    const answers = await askReflection(client, [
      { file_containing_symbol: 'sallyport.v1.ToolService.ExecuteTool' },
      { file_by_filename: 'sallyport/v1/tool_service.proto' },
      { file_containing_symbol: 'sallyport.v1.OperatorService' },
      { file_by_filename: 'sallyport/v1/operator_service.proto' },
      { file_containing_symbol: '' },
      { all_extension_numbers_of_type: 'sallyport.v1.ExecuteToolRequest' },
      { file_containing_extension: { containing_type: 'sallyport.v1.ExecuteToolRequest', extension_number: 1 } },
      {},
    ]);
    assert.deepEqual(
      answers.map((answer) => answer['message_response']),
      [
        'file_descriptor_response',
        'file_descriptor_response',
        'error_response',
        'error_response',
        'error_response',
        'all_extension_numbers_response',
        'error_response',
        'error_response',
      ],
    );
  });
});
