import { dropUndefined } from '@sallyport/contract';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the kernel tells about a graphics card. What is absent, its driver does not tell. */
export interface Gpu {
  readonly [key: string]: string | number;
  readonly name: string;
}

export interface GpuPlaces {
  readonly cards: string;
  readonly nvidia: string;
}

const kernelPlaces: GpuPlaces = { cards: '/sys/class/drm', nvidia: '/proc/driver/nvidia/gpus' };

/** The graphics cards of this machine. Empty: none, or none that the kernel describes in these places. */
export async function readGpus(places: GpuPlaces = kernelPlaces): Promise<readonly Gpu[]> {
  const [cards, nvidia] = await Promise.all([list(places.cards), list(places.nvidia)]);
  const found = await Promise.all([
    ...cards.filter((name) => /^card\d+$/.test(name)).map((name) => readCard(join(places.cards, name, 'device'))),
    ...nvidia.map((name) => readNvidia(join(places.nvidia, name, 'information'))),
  ]);
  return found.filter((gpu) => gpu !== undefined);
}

/** Cards without a count of their own work are outputs of a virtual machine, or known by a driver of their own. */
async function readCard(device: string): Promise<Gpu | undefined> {
  const [busy, total, used, product, vendor, model] = await Promise.all(
    ['gpu_busy_percent', 'mem_info_vram_total', 'mem_info_vram_used', 'product_name', 'vendor', 'device'].map((name) =>
      readText(join(device, name)),
    ),
  );
  const [usedPercent, totalBytes, usedBytes] = [busy, total, used].map(numberOf);
  if (usedPercent === undefined && totalBytes === undefined) return undefined;
  return {
    name: product || `PCI ${vendor ?? 'unknown'}:${model ?? 'unknown'}`,
    ...dropUndefined({ used_percent: usedPercent, memory_total_bytes: totalBytes, memory_used_bytes: usedBytes }),
  };
}

/** Its load is known only to a program that needs the devices of the card. */
async function readNvidia(file: string): Promise<Gpu | undefined> {
  const name = /^Model:\s*(.+)$/m.exec((await readText(file)) ?? '')?.[1];
  return name === undefined ? undefined : { name };
}

async function list(folder: string): Promise<readonly string[]> {
  const names: string[] = await readdir(folder).catch(() => []);
  return names.sort();
}

async function readText(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  return text?.trim();
}

function numberOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
