// `config.yaml` in the user's Ropewalk home: the API's URL and the credentials. Environment variables override the file, flags override both.
import { z } from 'zod';

export const userConfig = z.object({
  apiUrl: z.url().optional(),
  token: z.string().optional(),
  workspace: z.string().optional(),
});
export type UserConfig = z.infer<typeof userConfig>;
