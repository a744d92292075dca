// `config.yaml` in the user's Ropewalk home: where the API is and how to sign in. Environment wins over file, flags over both.
import { z } from 'zod';

export const userConfig = z.object({
  apiUrl: z.url().optional(),
  token: z.string().optional(),
  workspace: z.string().optional(),
});
export type UserConfig = z.infer<typeof userConfig>;
