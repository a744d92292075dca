// `ropewalk env inspect NAME`: shows the content of a named environment, and its builds.
import { Command } from 'commander';

import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../../context.ts';
import { connect, withConnection, withFormat } from '../../context.ts';
import { exitCodes } from '../../errors.ts';
import { buildLines } from '../../environment-builds.ts';
import { clean } from '../../output.ts';

export function inspectEnvironmentCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('inspect')
    .description('Show the packages of a named environment, or its image, and its builds in the object store.')
    .argument('<name>', 'name of the environment');
  return withFormat(withConnection(command)).action(async (name: string, flags: ConnectionFlags & FormatFlag) => {
    const { output } = context;
    const details = await (await connect(context, flags)).environments.get(name);
    const { software, container } = details;
    if (flags.format === 'json') output.json(details);
    else {
      output.err(`${details.name}, version ${details.version}: ${details.summary}`);
      const files = software?.packageFiles.map((file) => file.name) ?? [];
      for (const line of [...(container === null ? [] : [container]), ...(software?.requirements ?? []), ...files]) {
        output.out(clean(line));
      }
      for (const line of buildLines(details.builds)) output.err(line);
    }
    finish(exitCodes.ok);
  });
}
