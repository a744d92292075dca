// `ropewalk login`: get a token for this machine, and keep it in config.yaml. Nothing secret is ever an argument, and
// nothing is asked on a terminal that is none: the code is shown, and approved elsewhere.
import { hostname } from 'node:os';

import { Command, Option } from 'commander';

import { createClient, login } from '../../sdk/client.ts';
import { readToken, resolveApiUrl } from '../config.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../context.ts';
import { withConnection, withFormat } from '../context.ts';
import { exitCodes, UsageError } from '../errors.ts';
import { untilInterrupted } from '../interrupt.ts';
import { formatWhoami, show } from '../people.ts';
import { saveConfig } from '../save-config.ts';
import { readSecret } from '../secret-input.ts';

interface LoginFlags extends ConnectionFlags, FormatFlag {
  token?: boolean;
}

const help = `
Shows a code: open the address on any device, compare the code, and approve it with a token that you have. The token that
comes back is kept in config.yaml in your Ropewalk home, readable for you alone.

  ropewalk login --api-url https://ropewalk.example.org
  ropewalk login --token < token.txt`;

export function loginCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('login')
    .description('Sign in: get a token for this machine and keep it.')
    .addOption(new Option('--token', 'take a token from standard input instead').conflicts('tokenFile'))
    .addHelpText('after', help);
  return withFormat(withConnection(command)).action(async (flags: LoginFlags) => {
    const apiUrl = await resolveApiUrl(flags, context);
    const token = await getToken(context, flags, apiUrl);
    // A token that does not work must not take the place of one that does.
    const who = await createClient({ apiUrl, token }).whoami();
    const file = await saveConfig(context.home, { apiUrl, token, workspace: who.workspace });
    show(context, flags, who, (known) => `Signed in at ${apiUrl} as ${formatWhoami(known)}`);
    context.output.err(`The token is kept in ${file}.`);
    for (const name of ['ROPEWALK_API_URL', 'ROPEWALK_TOKEN']) {
      if (context.env[name]) context.output.err(`note: ${name} is set here and wins over what was just kept`);
    }
    finish(exitCodes.ok);
  });
}

async function getToken(context: CliContext, flags: LoginFlags, apiUrl: string): Promise<string> {
  if (flags.token === true) return checkToken(await readSecret('token', context.output));
  if (flags.tokenFile !== undefined) return checkToken(await readToken(flags.tokenFile, context.cwd));
  const { output } = context;
  const created = await untilInterrupted(
    () => 'Interrupted: nobody is signed in here by this.',
    (signal) =>
      login({
        apiUrl,
        client: `ropewalk on ${hostname()}`.slice(0, 100),
        signal,
        onCode: ({ userCode, verificationUrl, verificationUrlComplete, expiresInSeconds }) => {
          output.err(`Open ${verificationUrlComplete}`);
          output.err(
            `or ${verificationUrl} and type the code, and approve it there if it is this one:\n\n  ${userCode}\n`,
          );
          output.progress(`Waiting for that, for ${Math.round(expiresInSeconds / 60)} minutes at most`);
        },
        onUnreachable: (error) => output.progress(`Still trying: ${error.message}`),
      }),
  );
  output.endProgress();
  return created.token;
}

/** Its text is never part of the error: it is a secret, or somebody took it for one. */
function checkToken(token: string): string {
  if (/^rw_[a-z0-9-]+_[a-z0-9]+-[\w-]+$/.test(token)) return token;
  throw new UsageError('this is not a token', 'A token looks like rw_WORKSPACE_ID-SECRET, on one line.');
}
