// Whether an account may launch, without launching: the provider's own calls, each sent with DryRun. EC2 answers a permitted call
// with `DryRunOperation`.
import { createAwsClients } from '../../providers/aws/clients.ts';
import { launchInstances } from '../../providers/aws/launch.ts';
import { codeOf, messageOf } from '../../providers/aws/sdk-errors.ts';
import type { AwsSettings } from '../../providers/aws/settings.ts';
import type { LaunchRequest } from '../../providers/provider.ts';

/** For each launch call `permitted`, or the reason why not. The launch template is created: it costs nothing, and has its owner's tags. */
export async function dryRun(settings: AwsSettings, request: LaunchRequest): Promise<Record<string, string>> {
  const clients = createAwsClients(settings.region);
  const verdicts: Record<string, string> = {};
  clients.launching.middlewareStack.add(
    (next, { commandName = 'a call' }) =>
      async (args) => {
        const call = commandName.replace(/Command$/, '');
        try {
          return await next({ ...args, input: { ...args.input, DryRun: true } });
        } catch (error) {
          const code = codeOf(error);
          verdicts[call] = code === 'DryRunOperation' ? 'permitted' : `${code}: ${messageOf(error)}`;
          // With this answer the provider tries the other way of launching, and then gives up.
          throw Object.assign(new Error('a dry run'), {
            name: 'UnsupportedOperation',
            $metadata: { httpStatusCode: 400 },
          });
        }
      },
    { step: 'initialize', name: 'dryRun' },
  );
  const { launched, failures } = await launchInstances(clients, settings, request);
  if (launched.length > 0) throw new Error(`A dry run has launched ${launched.map(({ id }) => id).join(', ')}.`);
  if (Object.keys(verdicts).length === 0) verdicts['the launch template'] = failures.map(({ text }) => text).join(' ');
  return verdicts;
}
