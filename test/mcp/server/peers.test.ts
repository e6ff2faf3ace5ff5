import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { TestDaemon } from '../../harness/daemon.ts';
import { requirement } from '../../requirement.ts';
import { connectPeer, factsOf, peerKinds, textOf } from './peers.ts';
import type { Way } from './peers.ts';

let daemon: TestDaemon;
before(async () => {
  daemon = await TestDaemon.start();
  writeFileSync(join(daemon.place.workspace, 'hello.txt'), 'hello\n');
});
after(() => daemon.remove());

const ways: Readonly<Record<string, (token: string) => Way>> = {
  HTTP: (token) => ({ url: new URL('/mcp', daemon.address), token }),
  stdio: (token) => ({ place: daemon.place, token }),
};

for (const kind of peerKinds) {
  for (const [way, reach] of Object.entries(ways)) {
    test(`a client of the SDK ${kind} lists and calls tools over ${way}`, async (t) => {
      requirement('WIRE-5');
      const peer = await connectPeer(t, kind, reach(await daemon.newAgent(`${way}-${peerKinds.indexOf(kind)}`)));
      if (kind === 'v2') assert.equal(peer.revision, '2026-07-28');

      const tools = new Map((await peer.listTools()).map((tool) => [tool.name, tool]));
      const read = tools.get('files_read');
      assert.equal(read?.title, 'files.read');
      assert.deepEqual(read?.annotations, {
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      });
      assert.ok(read?.outputSchema);
      assert.ok(!tools.has('sessions_create'), 'what only operators may call is not listed');

      const result = await peer.call('files_read', { path: 'hello.txt' });
      assert.equal(result.structuredContent?.['content'], 'hello\n');
      assert.deepEqual(JSON.parse(textOf(result)), result.structuredContent);

      const denied = await peer.call('files_read', { path: '/etc/passwd' });
      assert.equal(denied.isError, true);
      assert.match(textOf(denied), /^Denied \(NO_RULE_ALLOWS, rule default-deny\): .*\/etc\/passwd.*\nWhat to do: /);
      assert.equal(factsOf(denied)['code'], 'NO_RULE_ALLOWS');

      const unknown = await peer.call('files_raed', {});
      assert.equal(unknown.isError, true);
      assert.match(textOf(unknown), /UNKNOWN_TOOL.*files/);
    });
  }
}
