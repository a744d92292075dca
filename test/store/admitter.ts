// A process that admits jobs until it is killed, a few at a time, and prints each acknowledged one: its key and number.
import { writeSync } from 'node:fs';

import { openStore } from '../../store/open.ts';
import { anItem, startMs, valueOf } from './fixtures.ts';

const [file = '', prefix = ''] = process.argv.slice(2);
const store = await openStore({ url: null, file, migrate: false });
for (let n = 0; ; n += 3) {
  const keys = [n, n + 1, n + 2].map((each) => `${prefix}-${each}`);
  await Promise.all(
    keys.map(async (key) => {
      const item = anItem('w', { admissionId: key, idempotencyKey: key });
      const { number } = valueOf(await store.admissions.admit(item, startMs));
      // Synchronous: every acknowledged line has left the process.
      writeSync(1, `${key} ${number}\n`);
    }),
  );
}
