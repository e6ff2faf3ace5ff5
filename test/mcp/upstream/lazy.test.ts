import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { newPlace, TestDaemon } from '../../harness/daemon.ts';
import { server, writeUpstream } from './upstream-kit.ts';

test('a daemon without upstream servers does not load what it takes to speak to one', async (context) => {
  const place = newPlace();
  const [hook, mark] = [join(place.folder, 'hook.mjs'), join(place.folder, 'loaded')];
  writeFileSync(
    hook,
    `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const wanted = '@modelcontextprotocol/client/';
registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context);
    // A build says of each of its parts where it comes from.
    if (url.includes(wanted) || String(loaded.source).includes(\`#region node_modules/\${wanted}\`)) {
      appendFileSync(${JSON.stringify(mark)}, url);
    }
    return loaded;
  },
});
`,
  );
  const daemon = await TestDaemon.start(place, { NODE_OPTIONS: `--import ${hook}` });
  context.after(() => daemon.remove());
  await daemon.call('upstreams.list', {});
  assert.equal(existsSync(mark), false);
  writeUpstream(join(place.home, 'upstreams'), 'demo', server('good'));
  for (let tries = 0; !existsSync(mark); tries++) {
    assert.ok(tries < 300, 'the first upstream did not load it either, so the look is wrong');
    await sleep(100);
  }
});
