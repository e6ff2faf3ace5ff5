#!/usr/bin/env node
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

/** The page is made from the code of this package and comes with it. */
const builtPage = join(import.meta.dirname, '../verify-receipt.html');

const usage = `Usage: sallyport-log verify FILE [--key KEY] [--witness KEY] [--checkpoint FILE] [--json]
       sallyport-log page FILE
       sallyport-log witness FOLDER --name NAME --log KEY [--listen HOST:PORT]

verify judges a file that Sallyport wrote, without the gate: a receipt (sallyport audit receipt), a
proof of consistency (sallyport audit consistency), or a log (sallyport audit export).

  --key KEY          the public key of the log, as text or in a file. Without it the key in the
                     file is believed, and that proves only that the file fits its own key
  --witness KEY      a witness that must have cosigned the receipt: its public key, as text or in
                     a file. May be given again
  --checkpoint FILE  a checkpoint that was kept elsewhere
  --json             print one JSON object

page writes a page that does the same for receipts in a browser, without any server.

witness cosigns checkpoints that continue all it saw before (C2SP tlog-witness). Run it on another
machine than the gate: a gate that rewrites its log gets no more signatures from it.

  FOLDER             holds its key, made at the first run, and what it saw
  --name NAME        what it is called in its signatures, such as witness.example.org/w1
  --log KEY          a log to watch: its public key, as text or in a file. May be given again
  --listen HOST:PORT where it listens; 127.0.0.1:7380 unless it is given

Exit codes: 0 the file is intact, 1 it is not, 2 the command or the file is wrong.
`;

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      key: { type: 'string' },
      witness: { type: 'string', multiple: true },
      checkpoint: { type: 'string' },
      name: { type: 'string' },
      log: { type: 'string', multiple: true },
      listen: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
  const [command, file, ...more] = positionals;
  if (values.help === true) {
    process.stdout.write(usage);
    return 0;
  }
  if (file === undefined || more.length > 0) throw new Error(usage);
  if (command === 'page') {
    copyFileSync(builtPage, file);
    process.stdout.write(`${file} checks receipts in a browser: open it and drop a receipt on it.\n`);
    return 0;
  }
  if (command === 'witness') {
    await (await import('./commands/run-witness.ts')).runWitness(file, values);
    return 0;
  }
  if (command !== 'verify') throw new Error(usage);
  const { intact, lines, json } = await (await import('./commands/verify-file.ts')).verifyFile(file, values);
  process.stdout.write(values.json === true ? `${JSON.stringify(json)}\n` : lines.map((line) => `${line}\n`).join(''));
  return intact ? 0 : 1;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 2;
}
