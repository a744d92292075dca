// `npm run test:live -- --provider gcp`: the live suite against the account or project of the environment's credentials. It costs
// money, if little, and therefore requires a second confirmation: ROPEWALK_LIVE_GCP=1 (or _AWS), and the settings of a network
// there.
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';

import { liveClouds } from './clouds.ts';
import { cleanUp, runLive } from './suite.ts';

const { values } = parseArgs({
  options: { provider: { type: 'string', default: 'aws' }, clean: { type: 'string' } },
});
const say = (line: string): void => console.log(line);

const wanted = liveClouds[values.provider];
if (wanted === undefined) {
  console.error(`--provider is ${Object.keys(liveClouds).join(' or ')}, not ${values.provider}.`);
  process.exit(2);
}
const { consent, settings } = wanted;
const path = process.env[settings] ?? '';
if (process.env[consent] !== '1' || path === '') {
  console.error(
    `This launches one small instance in your account (--provider ${values.provider}) and ends it again, which costs some cents at most.
To run it, set ${consent}=1, and ${settings} to the file that docs/${values.provider}.md describes; credentials are
taken from where the SDK of the cloud finds them.`,
  );
  process.exit(2);
}

try {
  const cloud = wanted.read(path, process.env);
  if (values.clean !== undefined) {
    await cleanUp(cloud.provider(), values.clean, say, 0);
  } else {
    const deploymentId = `d_live_${randomBytes(6).toString('hex')}`;
    say(
      `Launches one ${cloud.type} on ${cloud.name} and ends it again, which takes some minutes and costs less than ${cloud.costBound} USD.`,
    );
    say(`Should this be killed: npm run test:live -- --provider ${values.provider} --clean ${deploymentId}`);
    const stopping = new AbortController();
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stopping.abort(new Error(name)));
    await runLive({ cloud, deploymentId, say, signal: stopping.signal });
    say('The live suite passed.');
  }
} catch (error) {
  console.error('The live suite failed:', error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
