// Runs a script that may read one folder and do nothing else: node example.mjs FOLDER
import { defaultProgramLimits, SpawnerClient } from '@sallyport/sandbox';

const folder = process.argv[2] ?? process.cwd();
const sandbox = new SpawnerClient({ onTrouble: console.error });
const script = 'ls /data; touch /data/new 2>&1; cat /etc/shadow 2>&1; ls /sys/class/net';
try {
  const { how, usage } = await sandbox.run(
    {
      argv: ['/bin/sh', '-c', script],
      environment: { PATH: '/usr/bin:/bin' },
      workingDirectory: '/',
      stdin: new Uint8Array(),
      mounts: [{ source: folder, target: '/data', access: 'read' }],
      hosts: [],
      limits: { ...defaultProgramLimits, cpuMs: 1000 },
      isolation: 'sandbox',
    },
    {
      signal: AbortSignal.timeout(10_000),
      onStdout: (bytes) => void process.stdout.write(bytes),
      onStderr: (bytes) => void process.stderr.write(bytes),
    },
  );
  console.log(how, usage.measuredBy);
} finally {
  await sandbox.close();
}
