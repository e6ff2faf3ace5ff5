import { readFile, statfs } from 'node:fs/promises';
import { cpus, freemem, loadavg, totalmem, uptime } from 'node:os';
import type { CpuInfo } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { spellCount } from '@sallyport/contract';
import type { JsonObject } from '@sallyport/contract';
import type { AnyTool } from '../../call/tool.ts';
import { defineTool, looksAt } from '../define-tool.ts';
import { readGpus } from './read-gpus.ts';
import type { GpuPlaces } from './read-gpus.ts';
import * as schema from '../../registry/schemas/schema.ts';

/** Over which the processors are watched. */
const sampleMs = 250;

const bytes = (description: string) => schema.count(description);
const percent = (description: string): JsonObject => ({ type: 'number', minimum: 0, maximum: 100, description });

/** `gpuPlaces` is for tests. */
export function systemMetrics(gpuPlaces?: GpuPlaces): AnyTool {
  return defineTool({
    name: 'system.metrics',
    aliases: ['system_metrics_snapshot'],
    description:
      'Show how busy this machine is now: processors, memory, disk space and graphics cards. Values that the machine does not report are left out.',
    tags: ['system'],
    risk: 'low',
    timeoutMs: 5000,
    inputSchema: schema.object({}),
    outputSchema: schema.object({
      taken_at: schema.string('When it was measured, in ISO 8601.'),
      uptime_seconds: schema.count('How long the machine has been running.'),
      cpu: schema.object(
        {
          cores: schema.integer('How many processors the system has.', { minimum: 1 }),
          model: schema.string('What they are called. Absent: not known.'),
          used_percent: percent(`Of all of them together, over ${sampleMs} ms.`),
          load_average: schema.array('Processes that run or wait, on average over 1, 5 and 15 minutes.', {
            type: 'number',
            minimum: 0,
          }),
        },
        { optional: ['model', 'used_percent'] },
      ),
      memory: schema.object(
        {
          total_bytes: bytes('Memory of the machine.'),
          available_bytes: bytes('What new programs could get without swapping.'),
          limit_bytes: bytes('What the group of processes that the gate belongs to may use. Absent: no limit.'),
          swap_total_bytes: bytes('Absent: not known.'),
          swap_free_bytes: bytes('Absent: not known.'),
        },
        { optional: ['limit_bytes', 'swap_total_bytes', 'swap_free_bytes'] },
      ),
      disks: schema.array(
        'The root of the file system, and the disk of the workspace.',
        schema.object({
          path: schema.string('A folder on the disk.'),
          total_bytes: bytes('Its size.'),
          free_bytes: bytes('What ordinary users may still fill.'),
        }),
      ),
      gpus: schema.array(
        'Graphics cards that the kernel describes. Empty: none.',
        schema.object(
          {
            name: schema.string('What the card is called.'),
            used_percent: percent('Absent: the driver does not tell.'),
            memory_total_bytes: bytes('Absent: the driver does not tell.'),
            memory_used_bytes: bytes('Absent: the driver does not tell.'),
          },
          { optional: ['used_percent', 'memory_total_bytes', 'memory_used_bytes'] },
        ),
      ),
    }),
    preview: () => looksAt('Measure processors, memory, disks and graphics cards'),
    run: async (_, { signal, workspace }) => {
      const before = cpus();
      const [disks, gpus, swap] = await Promise.all([
        Promise.all([...new Set(['/', workspace.folder])].map(readDisk)),
        readGpus(gpuPlaces),
        readSwap(),
        setTimeout(sampleMs, undefined, { signal }),
      ]);
      return {
        taken_at: new Date().toISOString(),
        uptime_seconds: Math.floor(uptime()),
        cpu: describeProcessors(before, cpus()),
        memory: { total_bytes: totalmem(), available_bytes: freemem(), ...describeLimit(), ...swap },
        disks,
        gpus: [...gpus],
      };
    },
    summarize: (_, { disks, gpus }) =>
      `${spellCount(disks.length, 'disk')}, ${spellCount(gpus.length, 'graphics card')}`,
  });
}

function describeProcessors(before: readonly CpuInfo[], after: readonly CpuInfo[]) {
  const spent = (all: readonly CpuInfo[]): { busy: number; total: number } => {
    const times = all.map((each) => each.times);
    const total = times.reduce((sum, each) => sum + each.user + each.nice + each.sys + each.irq + each.idle, 0);
    return { total, busy: total - times.reduce((sum, each) => sum + each.idle, 0) };
  };
  const [from, to] = [spent(before), spent(after)];
  const share = (100 * (to.busy - from.busy)) / (to.total - from.total);
  const model = after[0]?.model.trim() ?? '';
  return {
    cores: Math.max(after.length, 1),
    ...(model === '' || model === 'unknown' ? {} : { model }),
    // A clock that did not move tells nothing.
    ...(Number.isFinite(share) ? { used_percent: Math.round(Math.min(Math.max(share, 0), 100) * 10) / 10 } : {}),
    load_average: loadavg(),
  };
}

function describeLimit(): { readonly limit_bytes?: number } {
  const limit = process.constrainedMemory();
  return limit > 0 && limit < totalmem() ? { limit_bytes: limit } : {};
}

async function readDisk(path: string) {
  const { blocks, bavail, bsize } = await statfs(path);
  return { path, total_bytes: blocks * bsize, free_bytes: bavail * bsize };
}

async function readSwap(): Promise<{ readonly swap_total_bytes?: number; readonly swap_free_bytes?: number }> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const find = (name: string): number | undefined => {
    const found = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text)?.[1];
    return found === undefined ? undefined : Number(found) * 1024;
  };
  const [total, free] = [find('SwapTotal'), find('SwapFree')];
  return total === undefined || free === undefined ? {} : { swap_total_bytes: total, swap_free_bytes: free };
}
