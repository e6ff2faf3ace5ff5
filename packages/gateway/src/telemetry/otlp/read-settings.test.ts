import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { readTraceSettings, wantsTraces } from './read-settings.ts';
import { findSampler } from './sampler.ts';

const endpoint = 'OTEL_EXPORTER_OTLP_ENDPOINT';
const here = { [endpoint]: 'http://127.0.0.1:4318' };

test('spans are wanted when a receiver or an exporter is named, and not when somebody says so', () => {
  const wanting = [
    here,
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a' },
    { OTEL_TRACES_EXPORTER: 'otlp' },
    { OTEL_TRACES_EXPORTER: 'OTLP, console' },
  ];
  for (const environment of wanting) assert.ok(wantsTraces(environment), JSON.stringify(environment));
  const others = [
    {},
    { [endpoint]: ' ' },
    { ...here, OTEL_TRACES_EXPORTER: 'none' },
    { ...here, OTEL_SDK_DISABLED: 'TRUE' },
    { OTEL_SERVICE_NAME: 'x', OTEL_TRACES_SAMPLER: 'always_on' },
  ];
  for (const environment of others) assert.ok(!wantsTraces(environment), JSON.stringify(environment));
});

test('the variable of traces goes before the one of all signals, and only the latter gets the usual path', () => {
  const endpointOf = (environment: Record<string, string>) => readTraceSettings(environment).settings?.endpoint.href;
  assert.equal(endpointOf({ OTEL_TRACES_EXPORTER: 'otlp' }), 'http://localhost:4318/v1/traces');
  assert.equal(endpointOf({ [endpoint]: 'https://a.test/otlp/' }), 'https://a.test/otlp/v1/traces');
  assert.equal(endpointOf({ ...here, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://b.test/in' }), 'http://b.test/in');
});

test('headers, resource, times and sizes are read as the standard says', () => {
  const { settings, problems } = readTraceSettings({
    ...here,
    OTEL_EXPORTER_OTLP_HEADERS: 'Api-Key=a%3Db, x=1',
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,team=a%20b',
    OTEL_SERVICE_NAME: 'gate',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '1500',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_BSP_MAX_QUEUE_SIZE: '10',
  });
  assert.deepEqual(problems, []);
  assert.deepEqual(settings?.headers, { 'api-key': 'a=b', x: '1' });
  assert.deepEqual(settings?.resource, { 'service.name': 'gate', team: 'a b' });
  assert.partialDeepStrictEqual(settings, { timeoutMs: 1500, isCompressed: true, maxQueued: 10, maxBatch: 512 });
});

test('a mistake is told, never with the value, and keeps nobody from starting', () => {
  const secret = 'hunter2-and-more';
  const wrong: Record<string, string>[] = [
    { [endpoint]: `ftp://${secret}` },
    { [endpoint]: `::${secret}` },
    { ...here, OTEL_EXPORTER_OTLP_HEADERS: secret },
    { ...here, OTEL_EXPORTER_OTLP_HEADERS: `a=${secret}%0d%0aevil: 1` },
    { ...here, OTEL_EXPORTER_OTLP_HEADERS: `a=%zz${secret}` },
    { ...here, OTEL_RESOURCE_ATTRIBUTES: `=${secret}` },
    { ...here, OTEL_EXPORTER_OTLP_TIMEOUT: secret },
    { ...here, OTEL_BSP_MAX_QUEUE_SIZE: '-1' },
    { ...here, OTEL_TRACES_SAMPLER: secret },
    { ...here, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1.5' },
    { ...here, OTEL_EXPORTER_OTLP_CERTIFICATE: `/nowhere/${secret}` },
    { ...here, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    { OTEL_TRACES_EXPORTER: secret },
  ];
  for (const environment of wrong) {
    const { problems } = readTraceSettings(environment);
    assert.equal(problems.length, 1, JSON.stringify(environment));
    assert.ok(!problems.join().includes(secret), problems.join());
  }
  for (const environment of [wrong[0], wrong[11], wrong[12]])
    assert.equal(readTraceSettings(environment ?? {}).settings, undefined);
});

test('samplers do what their names say', () => {
  const trace = () => randomBytes(16).toString('hex');
  const [followed, left] = [true, false].map((isSampled) => ({ spanId: 'ab'.repeat(8), isSampled }));
  const decide = (name: string, argument = '') => {
    const sampler = findSampler(name, argument) ?? assert.fail(name);
    return [undefined, followed, left].map((caller) => sampler(trace(), caller));
  };
  assert.deepEqual(decide('always_on'), [true, true, true]);
  assert.deepEqual(decide('always_off'), [false, false, false]);
  assert.deepEqual(decide('parentbased_always_on'), [true, true, false]);
  assert.deepEqual(decide('parentbased_always_off'), [false, true, false]);
  assert.deepEqual(decide('parentbased_traceidratio', '0'), [false, true, false]);
  assert.deepEqual(decide('traceidratio', '1'), [true, true, true]);
  assert.deepEqual(decide('traceidratio', '0'), [false, false, false]);
  const some = findSampler('traceidratio', '0.25') ?? assert.fail();
  const taken = Array.from({ length: 20_000 }, trace).filter((id) => some(id, undefined)).length;
  assert.ok(Math.abs(taken - 5000) < 500, String(taken));
  const one = trace();
  assert.equal(some(one, undefined), some(one, left), 'the same trace, the same answer');
});
