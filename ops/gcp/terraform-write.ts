// `node ops/gcp/terraform-write.ts` writes ops/gcp/terraform/main.tf.json; run it after a change of setup's resources.
import { writeFile } from 'node:fs/promises';

import { readRoles } from '../../providers/gcp/setup/roles.ts';
import { terraformModule } from '../../providers/gcp/setup/terraform.ts';

const path = new URL('terraform/main.tf.json', import.meta.url);
await writeFile(path, `${JSON.stringify(terraformModule(await readRoles()), null, 2)}\n`);
