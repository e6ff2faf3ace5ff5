import { readFileSync } from 'node:fs';
import { findSampler, usualSampler } from './sampler.ts';
import type { Sampler } from './sampler.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where spans go and how, as the standard OTEL_* variables say. */
export interface TraceSettings {
  readonly endpoint: URL;
  /** In lower case. Their values are secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly isCompressed: boolean;
  /** In PEM, as `tls.connect` takes them. */
  readonly tls: { readonly ca?: string; readonly key?: string; readonly cert?: string };
  readonly resource: Readonly<Record<string, string>>;
  readonly sampler: Sampler;
  readonly maxQueued: number;
  readonly maxBatch: number;
  readonly delayMs: number;
}

export interface ReadSettings {
  /** Absent: no spans are wanted, or they cannot be sent as it says. */
  readonly settings?: TraceSettings;
  /** What is not as it was meant, a sentence each. */
  readonly problems: readonly string[];
}

const defaultEndpoint = 'http://localhost:4318';

/** Whether anybody asked for spans. Cheap: without this, nothing else of the exporter is loaded. */
export function wantsTraces(environment: Environment): boolean {
  const read = reader(environment);
  if (read('OTEL_SDK_DISABLED').toLowerCase() === 'true') return false;
  const exporters = listOf(read('OTEL_TRACES_EXPORTER'));
  if (exporters.length > 0) return !exporters.includes('none');
  return read('OTEL_EXPORTER_OTLP_ENDPOINT') !== '' || read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') !== '';
}

/** Never throws: a mistake in these variables must not keep the gate from starting. */
export function readTraceSettings(environment: Environment): ReadSettings {
  const problems: string[] = [];
  const read = reader(environment);
  /** The variable for traces alone goes before the one for all signals. */
  const readOtlp = (name: string): string =>
    read(`OTEL_EXPORTER_OTLP_TRACES_${name}`) || read(`OTEL_EXPORTER_OTLP_${name}`);
  const readNumber = (name: string, usual: number, most: number): number => {
    const text = read(name);
    if (text === '') return usual;
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1 && value <= most) return value;
    problems.push(`${name} must be a whole number from 1 to ${most}; ${usual} is used.`);
    return usual;
  };
  const readPem = (name: string): string | undefined => {
    const file = readOtlp(name);
    if (file === '') return undefined;
    try {
      return readFileSync(file, 'utf8');
    } catch (error) {
      const { code = 'error' } = error as NodeJS.ErrnoException;
      problems.push(`The file that OTEL_EXPORTER_OTLP_${name} names cannot be read (${code}).`);
      return undefined;
    }
  };

  const exporters = listOf(read('OTEL_TRACES_EXPORTER'));
  const others = exporters.filter((name) => name !== 'otlp');
  if (others.length > 0) problems.push(`OTEL_TRACES_EXPORTER may be otlp or none; ${others.length} more are ignored.`);
  const protocol = readOtlp('PROTOCOL');
  if (protocol === 'http/protobuf')
    problems.push('Spans are sent as http/json, which receivers of http/protobuf take.');
  else if (protocol !== '' && protocol !== 'http/json')
    problems.push('OTEL_EXPORTER_OTLP_PROTOCOL must be http/json: spans are not sent over gRPC.');
  const endpoint = readEndpoint(read);
  if (endpoint === undefined) problems.push('The OTLP endpoint must be an address that begins with http: or https:.');
  const isSupported = ['', 'http/json', 'http/protobuf'].includes(protocol);
  if (endpoint === undefined || !isSupported || (exporters.length > 0 && !exporters.includes('otlp')))
    return { problems };

  const [ca, key, cert] = ['CERTIFICATE', 'CLIENT_KEY', 'CLIENT_CERTIFICATE'].map(readPem);
  const settings: TraceSettings = {
    endpoint,
    headers: readPairs(readOtlp('HEADERS'), 'OTEL_EXPORTER_OTLP_HEADERS', problems, (name) => name.toLowerCase()),
    timeoutMs: readNumber(
      read('OTEL_EXPORTER_OTLP_TRACES_TIMEOUT') === ''
        ? 'OTEL_EXPORTER_OTLP_TIMEOUT'
        : 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT',
      10_000,
      60_000,
    ),
    isCompressed: readOtlp('COMPRESSION') === 'gzip',
    tls: { ...(ca && { ca }), ...(key && { key }), ...(cert && { cert }) },
    resource: readResource(read, problems),
    sampler: readSampler(read, problems),
    maxQueued: readNumber('OTEL_BSP_MAX_QUEUE_SIZE', 2048, 65_536),
    maxBatch: readNumber('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 4096),
    delayMs: readNumber('OTEL_BSP_SCHEDULE_DELAY', 5000, 600_000),
  };
  return { settings, problems };
}

type Read = (name: string) => string;

/** An empty variable is as good as none. */
function reader(environment: Environment): Read {
  return (name) => (environment[name] ?? '').trim();
}

function listOf(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part !== '');
}

function readEndpoint(read: Read): URL | undefined {
  const whole = read('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT');
  const base = read('OTEL_EXPORTER_OTLP_ENDPOINT') || defaultEndpoint;
  const url = URL.parse(whole || `${base.replace(/\/+$/, '')}/v1/traces`);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}

function readSampler(read: Read, problems: string[]): Sampler {
  const sampler = findSampler(read('OTEL_TRACES_SAMPLER') || usualSampler, read('OTEL_TRACES_SAMPLER_ARG'));
  if (sampler !== undefined) return sampler;
  problems.push(`OTEL_TRACES_SAMPLER and its argument name no sampler; ${usualSampler} is used.`);
  return findSampler(usualSampler, '') ?? (() => true);
}

function readResource(read: Read, problems: string[]): Readonly<Record<string, string>> {
  const named = readPairs(read('OTEL_RESOURCE_ATTRIBUTES'), 'OTEL_RESOURCE_ATTRIBUTES', problems);
  return {
    'service.name': 'sallyport',
    ...named,
    ...(read('OTEL_SERVICE_NAME') && { 'service.name': read('OTEL_SERVICE_NAME') }),
  };
}

/** `name=value,name=value`, with the values percent-encoded. The whole of it counts or nothing. */
function readPairs(
  text: string,
  variable: string,
  problems: string[],
  spell: (name: string) => string = (name) => name,
): Readonly<Record<string, string>> {
  const pairs: Record<string, string> = {};
  try {
    for (const part of text.split(',').filter((each) => each.trim() !== '')) {
      const at = part.indexOf('=');
      const name = spell(decodeURIComponent(part.slice(0, Math.max(0, at)).trim()));
      const value = decodeURIComponent(part.slice(at + 1).trim());
      if (at < 1 || !/^[\w.!#$%&'*+^`|~-]+$/.test(name) || !/^[\t\x20-\x7e\x80-\u{10ffff}]*$/u.test(value))
        throw new URIError();
      pairs[name] = value;
    }
    return pairs;
  } catch {
    problems.push(`${variable} must be a list such as name=value,name=value; it is ignored.`);
    return {};
  }
}
