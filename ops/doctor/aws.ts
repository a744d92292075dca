// EC2, where it is configured: can the settings be read, do the credentials work, does a Temporal worker launch there, and does
// the sweep go there.
import { type Client, ScheduleNotFoundError } from '@temporalio/client';

import { RopewalkError } from '../../domain/errors.ts';
import { sweepScheduleId } from '../../contracts/sweep.ts';
import { awsRegions, configuredPlaces, type Place } from '../clouds.ts';
import { hasPoller } from '../pollers.ts';
import { withTemporal } from '../temporal.ts';
import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

const answerWithinMs = 10_000;

export async function checkAws({ env, home }: Patient): Promise<Finding[]> {
  let places: Place[];
  let region: string | undefined;
  try {
    places = configuredPlaces(env);
    region = awsRegions(env)[0]?.region;
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    return [broken('aws settings', error.problem.message, error.problem.hint ?? '')];
  }
  if (region === undefined) return [];
  const settings = ok('aws settings', env['ROPEWALK_AWS_SETTINGS'] ?? '');
  return [settings, await checkCredentials(region), ...(await checkPlaces(env, home, places))];
}

async function checkCredentials(region: string): Promise<Finding> {
  // Heavy, and of use to those alone who have an account.
  const { whoCalls } = await import('../../providers/aws/caller.ts');
  try {
    const { arn } = await whoCalls(region, AbortSignal.timeout(answerWithinMs));
    return ok('aws credentials', arn);
  } catch (error) {
    const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    const fix =
      'Give this process what the API and the Temporal workers have: AWS_PROFILE, AWS_ACCESS_KEY_ID, or a role.';
    return broken('aws credentials', `AWS does not take them: ${text}`, fix);
  }
}

async function checkPlaces(env: Patient['env'], home: string, places: Place[]): Promise<Finding[]> {
  try {
    return await withTemporal({ env, home }, async ({ client }) => {
      const found: Finding[] = [];
      for (const { providerQueue } of places) {
        found.push(await checkWorker(client, providerQueue), await checkSweep(client, providerQueue));
      }
      return found;
    });
  } catch (error) {
    // What is wrong with Temporal itself is another check's to say.
    if (error instanceof RopewalkError) return [];
    throw error;
  }
}

async function checkWorker(client: Client, queue: string): Promise<Finding> {
  if (await hasPoller(client, queue, 'activities')) return ok('ec2 worker', `a Temporal worker polls ${queue}`);
  const text = `no Temporal worker polls ${queue}: nothing is launched or ended there`;
  return broken('ec2 worker', text, 'Start one with ROPEWALK_AWS_SETTINGS set.');
}

async function checkSweep(client: Client, queue: string): Promise<Finding> {
  const schedule = sweepScheduleId(queue);
  try {
    const { state } = await client.schedule.getHandle(schedule).describe();
    if (!state.paused) return ok('ec2 sweep', `${schedule} is scheduled`);
    return warning('ec2 sweep', `${schedule} is paused`, 'Unpause the schedule in Temporal.');
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    const fix = 'Run, with ROPEWALK_AWS_SETTINGS set: ropewalk init';
    return broken('ec2 sweep', `${schedule} is not scheduled: what a crash leaves there is not found`, fix);
  }
}
