// What `ropewalk doctor` asks of AWS.
import { RopewalkError } from '../../domain/errors.ts';
import type { ProviderCheck } from '../manifest.ts';

/** Whether AWS accepts the credentials of this process; resolves to the ARN of their owner. */
export const credentialsCheck = (region: string): ProviderCheck => ({
  name: 'aws credentials',
  run: async (signal) => {
    const { whoCalls } = await import('./caller.ts');
    try {
      return (await whoCalls(region, signal)).arn;
    } catch (cause) {
      const text = cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause);
      const message = `AWS does not accept the credentials of this process: ${text}`;
      const hint =
        'Give it what the API and the Temporal workers have: AWS_PROFILE, AWS_ACCESS_KEY_ID, or an instance role.';
      throw new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause });
    }
  },
});
