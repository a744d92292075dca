// `ropewalk login`: gets a token for this machine and stores it in config.yaml. No secret is a command-line argument or a
// prompt: the code is shown here and approved in a browser.
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
Shows a code: open the address on any device, compare the code, and approve it,
signed in at your identity provider or with a token that you have. The new token is stored in config.yaml in your
Ropewalk home, readable only by you.

  ropewalk login --api-url https://ropewalk.example.org
  ropewalk login --token < token.txt`;

export function loginCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('login')
    .description('Sign in: get a token for this machine and store it.')
    .addOption(new Option('--token', 'read a token from standard input instead').conflicts('tokenFile'))
    .addHelpText('after', help);
  return withFormat(withConnection(command)).action(async (flags: LoginFlags) => {
    const apiUrl = await resolveApiUrl(flags, context);
    const token = await getToken(context, flags, apiUrl);
    // A token that does not work must not replace one that does.
    const who = await createClient({ apiUrl, token }).whoami();
    const file = await saveConfig(context.home, { apiUrl, token, workspace: who.workspace });
    show(context, flags, who, (known) => `Signed in at ${apiUrl} as ${formatWhoami(known)}`);
    context.output.err(`The token is stored in ${file}.`);
    for (const name of ['ROPEWALK_API_URL', 'ROPEWALK_TOKEN']) {
      if (context.env[name]) context.output.err(`note: the environment variable ${name} is set and overrides ${file}`);
    }
    finish(exitCodes.ok);
  });
}

async function getToken(context: CliContext, flags: LoginFlags, apiUrl: string): Promise<string> {
  if (flags.token === true) return checkToken(await readSecret('token', context.output));
  if (flags.tokenFile !== undefined) return checkToken(await readToken(flags.tokenFile, context.cwd));
  const { output } = context;
  const created = await untilInterrupted(
    () => 'Interrupted: not signed in.',
    (signal) =>
      login({
        apiUrl,
        client: `ropewalk on ${hostname()}`.slice(0, 100),
        signal,
        onCode: ({ userCode, verificationUrl, verificationUrlComplete, expiresInSeconds }) => {
          output.err(`Open ${verificationUrlComplete}`);
          output.err(`or ${verificationUrl} and enter the code. Approve it only if it is this one:\n\n  ${userCode}\n`);
          output.progress(`Waiting for approval, for at most ${Math.round(expiresInSeconds / 60)} minutes`);
        },
        onUnreachable: (error) => output.progress(`Retrying: ${error.message}`),
      }),
  );
  output.endProgress();
  return created.token;
}

/** The error does not contain the text, which may be a secret. */
function checkToken(token: string): string {
  if (/^rw_[a-z0-9-]+_[a-z0-9]+-[\w-]+$/.test(token)) return token;
  throw new UsageError('this is not a token', 'A token looks like rw_WORKSPACE_ID-SECRET, on one line.');
}
