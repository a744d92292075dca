// `ropewalk logout`: revokes the token in config.yaml and deletes it from the file.
import { Command } from 'commander';

import { AuthenticationError, createClient } from '../../sdk/client.ts';
import { configFile, readConfig, resolveApiUrl } from '../config.ts';
import type { CliContext, Finish } from '../context.ts';
import { exitCodes } from '../errors.ts';
import { saveConfig } from '../save-config.ts';

interface LogoutFlags {
  local?: boolean;
}

export function logoutCommand(context: CliContext, finish: Finish): Command {
  return new Command('logout')
    .description('Revoke the token in config.yaml and delete it there.')
    .option('--local', 'only delete it from config.yaml: the token itself stays valid')
    .action(async (flags: LogoutFlags) => {
      const { home, output, env } = context;
      const { token } = await readConfig(configFile(home));
      if (token === undefined) {
        output.err(`Not signed in: ${configFile(home)} has no token.`);
      } else {
        if (flags.local !== true) await revoke(await resolveApiUrl({}, { env: {}, home }), token);
        await saveConfig(home, { token: undefined, workspace: undefined });
        output.out(
          flags.local === true
            ? 'Signed out here: the token itself is still valid'
            : 'Signed out: the token is revoked',
        );
      }
      if (env['ROPEWALK_TOKEN']) output.err('note: the environment variable ROPEWALK_TOKEN is set and is still used');
      finish(exitCodes.ok);
    });
}

/** An already revoked or expired token is not an error. */
async function revoke(apiUrl: string, token: string): Promise<void> {
  const client = createClient({ apiUrl, token });
  try {
    const { tokenId } = await client.whoami();
    await client.tokens.revoke(tokenId);
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
  }
}
