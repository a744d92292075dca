// `npm run sbom`: the bill of materials of the shipped packages, in CycloneDX, on stdout. npm's own `--omit dev` omits packages
// that both development and production need, so all are requested, and development-only ones are removed here.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { z } from 'zod';

const component = z.looseObject({
  'bom-ref': z.string(),
  properties: z.array(z.object({ name: z.string(), value: z.string() })),
});
const bom = z.looseObject({
  bomFormat: z.literal('CycloneDX'),
  components: z.array(component),
  dependencies: z.array(z.looseObject({ ref: z.string(), dependsOn: z.array(z.string()).default([]) })),
});

const isForDevelopment = ({ properties }: z.infer<typeof component>): boolean =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');

const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
const { stdout } = await promisify(execFile)('npm', words, { maxBuffer: 2 ** 26 });
const all = bom.parse(JSON.parse(stdout));
const leftOut = new Set(all.components.filter(isForDevelopment).map((each) => each['bom-ref']));
const shipped = {
  ...all,
  components: all.components.filter((each) => !leftOut.has(each['bom-ref'])),
  dependencies: all.dependencies
    .filter(({ ref }) => !leftOut.has(ref))
    .map((each) => ({ ...each, dependsOn: each.dependsOn.filter((ref) => !leftOut.has(ref)) })),
};
process.stdout.write(`${JSON.stringify(shipped, null, 2)}\n`);
