// A process that writes a log as an agent does, through many rotations: node logs-writer.ts PATH LINES PART_BYTES PARTS.
import { setTimeout as sleep } from 'node:timers/promises';

import { createLog } from '../../agent/logs/log.ts';

const [path = '', lines = '', partBytes = '', parts = ''] = process.argv.slice(2);
const log = createLog(path, { partBytes: Number(partBytes), parts: Number(parts) });
for (let at = 0; at < Number(lines);) {
  // Bursts of many lengths: reads end anywhere in a part.
  const burst = Math.min(Number(lines) - at, 1 + Math.floor(Math.random() * 40));
  const texts = Array.from({ length: burst }, (_, of) => `${at + of} ${'x'.repeat(Math.floor(Math.random() * 200))}`);
  if (!log.append('stdout', texts)) await log.drained();
  at += burst;
  if (Math.random() < 0.2) await sleep(1);
}
await log.close();
