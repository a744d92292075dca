// The order of test files: those that start a stack or build Python packages begin first, because the longest file, begun last,
// would run alone at the end. Vitest's own order uses the times of earlier runs, which a fresh clone does not have.
import { readFileSync } from 'node:fs';

import { BaseSequencer, type TestSpecification } from 'vitest/node';

const long = /startStack\(|sharedStack\(|buildPackage\(|ensureEnvironment\(/;

/** Vitest requires a class. */
export class StacksFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // Vitest runs projects one after the other: their order stays.
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project.name);
    return [...projects.values()].flatMap((own) => {
      const { true: first = [], false: others = [] } = Object.groupBy(own, ({ moduleId }) =>
        long.test(readFileSync(moduleId, 'utf8')) ? 'true' : 'false',
      );
      return [...first, ...others];
    });
  }
}
