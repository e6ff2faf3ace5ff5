import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sensitiveHeaders } from 'node:http2';
import fc from 'fast-check';
import { requirement } from '../../../../../../test/requirement.ts';
import { CompressionError } from './compression-error.ts';
import { HpackDecoder } from './hpack-decoder.ts';
import { encodeLiterals, NodePair, NodeServer } from './node-peer.test-kit.ts';

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');
const limits = { maxTableBytes: 4096, maxListBytes: 16 * 1024 };

/** The examples of RFC 7541, appendix C: blocks of one connection, each with the fields in it. */
const first = [':method GET', ':scheme http', ':path /', ':authority www.example.com'];
const second = [...first, 'cache-control no-cache'];
const third = [
  ...[':method GET', ':scheme https', ':path /index.html', ':authority www.example.com'],
  'custom-key custom-value',
];
const date1 = 'date Mon, 21 Oct 2013 20:13:21 GMT';
const date2 = 'date Mon, 21 Oct 2013 20:13:22 GMT';
const location = 'location https://www.example.com';
const answers = [
  [':status 302', 'cache-control private', date1, location],
  [':status 307', 'cache-control private', date1, location],
  [
    ...[':status 200', 'cache-control private', date2, location, 'content-encoding gzip'],
    'set-cookie foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1',
  ],
];
const examples: { name: string; maxTableBytes?: number; blocks: [block: string, fields: string[]][] }[] = [
  {
    name: 'C.2.1',
    blocks: [['400a 6375 7374 6f6d 2d6b 6579 0d63 7573 746f 6d2d 6865 6164 6572', ['custom-key custom-header']]],
  },
  { name: 'C.2.2', blocks: [['040c 2f73 616d 706c 652f 7061 7468', [':path /sample/path']]] },
  { name: 'C.2.3', blocks: [['1008 7061 7373 776f 7264 0673 6563 7265 74', ['password secret']]] },
  { name: 'C.2.4', blocks: [['82', [':method GET']]] },
  {
    name: 'C.3',
    blocks: [
      ['8286 8441 0f77 7777 2e65 7861 6d70 6c65 2e63 6f6d', first],
      ['8286 84be 5808 6e6f 2d63 6163 6865', second],
      ['8287 85bf 400a 6375 7374 6f6d 2d6b 6579 0c63 7573 746f 6d2d 7661 6c75 65', third],
    ],
  },
  {
    name: 'C.4',
    blocks: [
      ['8286 8441 8cf1 e3c2 e5f2 3a6b a0ab 90f4 ff', first],
      ['8286 84be 5886 a8eb 1064 9cbf', second],
      ['8287 85bf 4088 25a8 49e9 5ba9 7d7f 8925 a849 e95b b8e8 b4bf', third],
    ],
  },
  {
    name: 'C.5',
    maxTableBytes: 256,
    blocks: [
      [
        '4803 3330 3258 0770 7269 7661 7465 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32' +
          '3120 474d 546e 1768 7474 7073 3a2f 2f77 7777 2e65 7861 6d70 6c65 2e63 6f6d',
        answers[0] ?? [],
      ],
      ['4803 3330 37c1 c0bf', answers[1] ?? []],
      [
        '88c1 611d 4d6f 6e2c 2032 3120 4f63 7420 3230 3133 2032 303a 3133 3a32 3220 474d 54c0 5a04 677a 6970' +
          '7738 666f 6f3d 4153 444a 4b48 514b 425a 584f 5157 454f 5049 5541 5851 5745 4f49 553b 206d 6178 2d61' +
          '6765 3d33 3630 303b 2076 6572 7369 6f6e 3d31',
        answers[2] ?? [],
      ],
    ],
  },
  {
    name: 'C.6',
    maxTableBytes: 256,
    blocks: [
      [
        '4882 6402 5885 aec3 771a 4b61 96d0 7abe 9410 54d4 44a8 2005 9504 0b81 66e0 82a6 2d1b ff6e 919d 29ad' +
          '1718 63c7 8f0b 97c8 e9ae 82ae 43d3',
        answers[0] ?? [],
      ],
      ['4883 640e ffc1 c0bf', answers[1] ?? []],
      [
        '88c1 6196 d07a be94 1054 d444 a820 0595 040b 8166 e084 a62d 1bff c05a 839b d9ab 77ad 94e7 821d d7f2' +
          'e6c7 b335 dfdf cd5b 3960 d5af 2708 7f36 72c1 ab27 0fb5 291f 9587 3160 65c0 03ed 4ee5 b106 3d50 07',
        answers[2] ?? [],
      ],
    ],
  },
];

const flat = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]);

describe('HpackDecoder', () => {
  for (const { name, maxTableBytes = 4096, blocks } of examples) {
    it(`reads the example ${name} of RFC 7541`, () => {
      const decoder = new HpackDecoder({ ...limits, maxTableBytes });
      for (const [block, lines] of blocks) assert.deepEqual(decoder.decode(hex(block)).fields, flat(lines));
    });
  }

  const refused: [what: string, ...blocks: string[]][] = [
    ['the index 0', '80'],
    ['an index behind the end of the table', 'be'],
    ['the name of an index behind the end of the table', '7f00 0161'],
    ['a field that was evicted', '4001 6101 62', '20', 'be'],
    ['a number that does not end', 'ff'],
    ['a number of many bytes', 'ff80 8080 8080 00'],
    ['a number that is far too large', 'ffff ffff ff0f'],
    ['a text that is longer than the block', '0005 6161'],
    ['a name without a value', '0001 61'],
    ['padding of eight bits', '0001 6182 1fff'],
    ['padding that is not of ones', '0001 6181 18'],
    ['the end of the string within it', '0001 6184 ffff ffff'],
    ['a table larger than was allowed', '3fe2 1f'],
    ['a size update behind a field', '8220'],
    ['three size updates', '2020 20'],
  ];
  for (const [what, ...blocks] of refused) {
    it(`refuses ${what}`, () => {
      requirement('WIRE-3');
      const decoder = new HpackDecoder(limits);
      const last = hex(blocks.pop() ?? '');
      for (const block of blocks) decoder.decode(hex(block));
      assert.throws(() => decoder.decode(last), CompressionError);
    });
  }

  it('takes one size update or two, up to the size that was allowed', () => {
    const decoder = new HpackDecoder(limits);
    decoder.decode(hex('4001 6101 62'));
    assert.deepEqual(decoder.decode(hex('3fe1 1fbe')).fields, ['a', 'b']);
    // The number may be longer than it has to be.
    assert.deepEqual(decoder.decode(hex('3fe1 9f80 8000 be')).fields, ['a', 'b']);
    assert.deepEqual(decoder.decode(hex('20 3fe1 1f82')).fields, [':method', 'GET']);
    assert.throws(() => decoder.decode(hex('be')), CompressionError);
  });

  it('says that a list is too large and keeps its table in step', () => {
    requirement('NFR-4');
    const decoder = new HpackDecoder({ ...limits, maxListBytes: 80 });
    // 34 bytes each.
    assert.equal(new HpackDecoder({ ...limits, maxListBytes: 68 }).decode(hex('4001 6101 62 be')).tooLarge, false);
    assert.equal(new HpackDecoder({ ...limits, maxListBytes: 67 }).decode(hex('4001 6101 62 be')).tooLarge, true);
    assert.deepEqual(decoder.decode(hex('4001 6101 62 be')).listBytes, 68);
    assert.deepEqual(decoder.decode(hex('be be be 4001 6301 64')), { fields: [], listBytes: 136, tooLarge: true });
    assert.deepEqual(decoder.decode(hex('be bf')).fields, ['c', 'd', 'a', 'b']);
    assert.equal(decoder.decode(Buffer.alloc(1000, 0xbe)).tooLarge, true);
  });

  it('counts fields as node:http2 does: 128, and the bytes of a list', async () => {
    const server = new NodeServer(16 * 1024);
    const head = [':method', 'GET', ':scheme', 'http', ':path', '/', ':authority', 'a'];
    const decoder = new HpackDecoder(limits);
    for (const [count, length] of [
      [124, 1],
      [125, 1],
      [99, 126],
      [100, 126],
    ] as const) {
      const more = Array.from({ length: count }, () => ['x', 'y'.repeat(length)]).flat();
      const block = encodeLiterals([...head, ...more]);
      const { tooLarge } = decoder.decode(block);
      assert.equal(tooLarge, (await server.judge(block)) === 'reset', `${count} fields of ${length}`);
    }
    server.close();
  });

  it('builds no more than the limit out of a large field that is named again and again', () => {
    requirement('NFR-4');
    const decoder = new HpackDecoder(limits);
    const name = Buffer.concat([hex('40 01 61 7f'), Buffer.from([0xa0, 0x1e]), Buffer.alloc(127 + 0xf20, 'x')]);
    assert.equal(decoder.decode(name).tooLarge, false);
    const before = process.memoryUsage().heapUsed;
    const { fields, tooLarge, listBytes } = decoder.decode(Buffer.alloc(16 * 1024, 0xbe));
    assert.deepEqual({ fields, tooLarge }, { fields: [], tooLarge: true });
    assert.ok(listBytes > 60e6);
    assert.ok(process.memoryUsage().heapUsed - before < 8e6);
  });

  it('reads whatever a client of node:http2 sends, as a server of node:http2 does', async () => {
    requirement('WIRE-4');
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { minLength: 1, maxLength: 25 }), async (turns) => {
        const pair = new NodePair();
        for (const { headers, sensitive, trailers, tableBytes } of turns) {
          if (tableBytes !== undefined) await pair.resizeTable(tableBytes);
          await pair.request({ ':path': '/', ...headers, [sensitiveHeaders]: sensitive }, trailers);
        }
        pair.close();
        const decoder = new HpackDecoder({ ...limits, maxListBytes: 65535 });
        const lists = pair.blocks.map((block) => decoder.decode(block).fields);
        assert.deepEqual(
          lists,
          pair.heads.map(({ raw }) => raw),
        );
      }),
      { numRuns: 20 },
    );
  });

  it('agrees with node:http2 about the bytes of a first block', async () => {
    requirement('WIRE-3');
    const server = new NodeServer();
    await fc.assert(
      fc.asyncProperty(looseBlock, async (block) => {
        const verdict = await server.judge(block);
        server.close();
        const isLost = fails(() => new HpackDecoder({ ...limits, maxListBytes: 65535 }).decode(block));
        assert.equal(isLost, verdict === 'lost');
      }),
      { numRuns: 200 },
    );
  });

  it('throws nothing but CompressionError on any bytes, and comes to an end', () => {
    requirement('WIRE-3');
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.uint8Array({ maxLength: 40 }), looseBlock), { maxLength: 6 }), (blocks) => {
        const decoder = new HpackDecoder(limits);
        fails(() => blocks.forEach((block) => decoder.decode(Buffer.from(block))));
      }),
      { numRuns: 2000 },
    );
  });
});

function fails(action: () => void): boolean {
  try {
    action();
    return false;
  } catch (error) {
    assert.ok(error instanceof CompressionError, String(error));
    return true;
  }
}

const fieldNames = ['authorization', 'user-agent', 'grpc-timeout', 'x-trace', 'accept', '__proto__', 'constructor'];
const name = fc.oneof(
  fc.constantFrom(...fieldNames),
  fc.stringMatching(/^[a-z][a-z0-9_-]{0,12}$/).map((text) => `x${text}`),
);
const value = fc.oneof(
  fc.constantFrom('', 'application/grpc', 'trailers', 'a'.repeat(900)),
  fc.stringMatching(/^[!-~\x80-\xff]{1,40}$/),
  fc.stringMatching(/^[!-~]([\t -~]{0,200}[!-~])?$/),
);
const headers = fc.dictionary(name, value, { maxKeys: 8, noNullPrototype: false });
const turn = fc.record({
  headers,
  sensitive: fc.subarray(fieldNames),
  trailers: fc.option(headers, { nil: undefined, freq: 4 }),
  tableBytes: fc.option(fc.constantFrom(0, 64, 200, 4096), { nil: undefined, freq: 5 }),
});

/**
 * Pieces that mean something one by one, and some that do not. At most two size updates are in front: node:http2 takes
 * more of them.
 */
const looseBlock = fc
  .record({
    updates: fc.array(fc.constantFrom('20', '3f11', '3fe11f', '3fe21f'), { maxLength: 2 }),
    fields: fc.array(
      fc.oneof(
        fc.constantFrom(
          '82',
          '87',
          '84',
          '400161 0162',
          '410161',
          '000161 8119',
          '000161 8118',
          'be',
          'bf',
          '7f00 0163',
        ),
        fc.constantFrom(
          '80',
          'ff00',
          'ff8080808000',
          'ff808080808000',
          '20',
          '0f 11 01 61',
          '0084ffffffff00',
          '0082aabb',
        ),
        fc.uint8Array({ minLength: 1, maxLength: 3 }).map((bytes) => Buffer.from(bytes).toString('hex')),
      ),
      { maxLength: 8 },
    ),
  })
  .map(({ updates, fields }) => hex([...updates, '82', ...fields].join('')));
