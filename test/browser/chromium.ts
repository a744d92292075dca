// Debian's Chromium, headless. Where it is missing, the tests that need it report that and are skipped.
import { access } from 'node:fs/promises';

import { chromium, type Browser } from 'playwright-core';

const executablePath = '/usr/bin/chromium';

export const hasChromium = await access(executablePath).then(
  () => true,
  () => false,
);
if (!hasChromium) console.warn(`There is no ${executablePath}: tests in a browser are left out. See .ci/run.`);

export const launchChromium = (): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      ...['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ],
  });
