// `npm run test:live`: the live suite against the AWS account that the environment has credentials for. It costs money, if
// little, so that it wants to be asked for twice: ROPEWALK_LIVE_AWS=1, and the settings of a network of that account.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';

import { readAwsSettings } from '../../providers/aws/settings-file.ts';
import { createAwsProvider } from '../../providers/aws/provider.ts';
import type { AwsSettings } from '../../providers/aws/settings.ts';
import { cleanUp, liveType, runLive } from './suite.ts';

const { values } = parseArgs({ options: { clean: { type: 'string' } } });
const say = (line: string): void => console.log(line);

const path = process.env['ROPEWALK_AWS_SETTINGS'] ?? '';
if (process.env['ROPEWALK_LIVE_AWS'] !== '1' || path === '') {
  console.error(
    `This launches one ${liveType} in your AWS account and ends it again: less than 0.01 USD.
To run it, set ROPEWALK_LIVE_AWS=1, and ROPEWALK_AWS_SETTINGS to the file that docs/aws.md describes; credentials are
taken from where the AWS SDK finds them.`,
  );
  process.exit(2);
}

try {
  const settings = settingsFrom(path);
  if (values.clean !== undefined) {
    await cleanUp(createAwsProvider({ settings }), values.clean, say, 0);
  } else {
    const deploymentId = `d_live_${randomBytes(6).toString('hex')}`;
    say(`Launches one ${liveType} and ends it again, which takes some minutes and costs less than 0.01 USD.`);
    say(`Should this be killed: npm run test:live -- --clean ${deploymentId}`);
    const stopping = new AbortController();
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort(new Error(name)));
    await runLive({ settings, deploymentId, say, signal: stopping.signal });
    say('The live suite passed.');
  }
} catch (error) {
  console.error('The live suite failed:', error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

/** No control plane takes part, so that there is no agent to fetch. */
function settingsFrom(file: string): AwsSettings {
  const { node, apiCa, ...account } = readAwsSettings(file);
  const agent = { url: 'https://ropewalk.invalid/agent', sha256: '0'.repeat(64), node, apiCa };
  return { ...account, agent };
}
