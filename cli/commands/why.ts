// `ropewalk batch why JOB` and `ropewalk cluster why CLUSTER`: explains its state.
import { Command } from 'commander';

import type { Client, Why, WhySentence } from '../../sdk/client.ts';
import type { Reference } from '../arguments.ts';
import { parseReference } from '../arguments.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../context.ts';
import { connect, withConnection, withFormat } from '../context.ts';
import { exitCodes } from '../errors.ts';
import { numberOfCluster, numberOfJob, referenceHelp } from '../references.ts';

interface Subject {
  noun: 'job' | 'cluster';
  read: (client: Client, reference: Reference) => Promise<Why>;
}

export const jobWhyCommand = (context: CliContext, finish: Finish): Command =>
  whyCommand(context, finish, {
    noun: 'job',
    read: async (client, reference) => client.jobs.why(await numberOfJob(client, reference)),
  });

export const clusterWhyCommand = (context: CliContext, finish: Finish): Command =>
  whyCommand(context, finish, {
    noun: 'cluster',
    read: async (client, reference) => client.clusters.why(await numberOfCluster(client, reference)),
  });

function whyCommand(context: CliContext, finish: Finish, { noun, read }: Subject): Command {
  const command = new Command('why')
    .description(`Explain why a ${noun} runs or waits, is not larger, has its instance types, and has stopped.`)
    .argument(`<${noun}>`, referenceHelp(noun), parseReference);
  return withFormat(withConnection(command)).action(
    async (reference: Reference, flags: ConnectionFlags & FormatFlag) => {
      const why = await read(await connect(context, flags), reference);
      if (flags.format === 'json') context.output.json(why);
      else context.output.out(formatWhy(why));
      finish(exitCodes.ok);
    },
  );
}

const titles: Record<Why['sentences'][number]['about'], string> = {
  state: 'State',
  size: 'Size',
  instanceType: 'Instances',
  end: 'End',
};

/** One line per sentence; the title once per topic. */
function formatWhy({ sentences }: Why): string {
  return sentences
    .map(({ about, text, facts }, index) => {
      const title = sentences[index - 1]?.about === about ? '' : titles[about];
      return `${title.padEnd(10)} ${text.replace(/\s*\n\s*/g, ' | ')}${formatEventsOf(facts)}`;
    })
    .join('\n');
}

/** ` (events #3, #17)`: the numbers that `cluster events` prints. */
function formatEventsOf(facts: WhySentence['facts']): string {
  const numbers = [...new Set(facts.flatMap(({ events }) => events))].toSorted((a, b) => a - b);
  if (numbers.length === 0) return '';
  return ` (${numbers.length === 1 ? 'event' : 'events'} ${numbers.map((number) => `#${number}`).join(', ')})`;
}
