// `ropewalk logout`: end the token that config.yaml holds, and forget it.
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
    .description('Revoke the token that is kept here, and forget it.')
    .option('--local', 'only forget it: whoever has a copy can go on using it')
    .action(async (flags: LogoutFlags) => {
      const { home, output, env } = context;
      const { token } = await readConfig(configFile(home));
      if (token === undefined) {
        output.err(`Nobody is signed in here: ${configFile(home)} holds no token.`);
      } else {
        if (flags.local !== true) await revoke(await resolveApiUrl({}, { env: {}, home }), token);
        await saveConfig(home, { token: undefined, workspace: undefined });
        output.out(
          flags.local === true ? 'Signed out here: the token itself is still good' : 'Signed out: the token is revoked',
        );
      }
      if (env['ROPEWALK_TOKEN']) output.err('note: ROPEWALK_TOKEN is set here, and goes on being used');
      finish(exitCodes.ok);
    });
}

/** One that is revoked or expired already is as good as revoked now. */
async function revoke(apiUrl: string, token: string): Promise<void> {
  const client = createClient({ apiUrl, token });
  try {
    const { tokenId } = await client.whoami();
    await client.tokens.revoke(tokenId);
  } catch (error) {
    if (!(error instanceof AuthenticationError)) throw error;
  }
}
