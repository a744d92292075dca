// The provider with its own call rate in simulated time: its waits advance the cloud's clock.
import { createLimiter } from '../../providers/aws/limiter.ts';
import { createAwsProvider } from '../../providers/aws/provider.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';

export function inSimulatedTime(cloud: TestCloud): TestCloud & { wait: (ms: number) => Promise<void> } {
  let simulatedMs = 0;
  const wait = async (ms: number): Promise<void> => {
    simulatedMs += ms;
    await cloud.emulator.send({ op: 'advance', ms });
  };
  const limiter = createLimiter(() => performance.now() + simulatedMs, wait);
  return { ...cloud, provider: createAwsProvider({ ...cloud.options, limiter }), wait };
}
