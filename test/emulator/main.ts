// The emulator as a process of its own: `node test/emulator/main.ts '{"ledgerPath": null, "machines": null}'` prints one JSON
// line with its address and runs until SIGTERM.
import { z } from 'zod';

import { serveEmulator } from './server.ts';

const options = z.object({
  ledgerPath: z.string().nullable().default(null),
  machines: z
    .object({ command: z.array(z.string()), directory: z.string(), environment: z.record(z.string(), z.string()) })
    .nullable()
    .default(null),
  port: z.number().int().default(0),
  traffic: z.string().nullable().default(null),
});

const server = await serveEmulator(options.parse(JSON.parse(process.argv[2] ?? '{}')));
process.stdout.write(`${JSON.stringify({ url: server.url })}\n`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void server.close().then(() => process.exit(0)));
}
