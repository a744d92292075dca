// Temporal: does it answer, is the namespace there, does it have the search attributes.
import { RopewalkError } from '../../domain/errors.ts';
import { usualSettings } from '../init/prepare.ts';
import { withTemporal } from '../temporal.ts';
import { broken, ok, warning, type Finding, type Patient } from './finding.ts';

const initFix = 'Run: ropewalk init';

export async function checkTemporal({ env, home }: Patient): Promise<Finding[]> {
  try {
    return await withTemporal({ env, home }, async ({ address, namespace, connection }) => {
      const findings = [ok('temporal', address)];
      try {
        const listed = await connection.operatorService.listSearchAttributes({ namespace });
        const absent = usualSettings.searchAttributes.filter((name) => listed.customAttributes?.[name] === undefined);
        findings.push(
          absent.length === 0
            ? ok('namespace', namespace)
            : broken('namespace', `${namespace} lacks search attributes: ${absent.join(', ')}`, initFix),
        );
      } catch (error) {
        const text = error instanceof Error ? error.message : String(error);
        findings.push(broken('namespace', `${namespace} cannot be read: ${text}`, initFix));
      }
      return findings;
    });
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    const { code, message, hint = '' } = error.problem;
    // On a machine of somebody who only uses an API there is no Temporal to look at.
    return [code === 'VALIDATION' ? warning('temporal', message, hint) : broken('temporal', message, hint)];
  }
}
