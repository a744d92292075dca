// Named ways of breaking the healing's rules. Most of them would throw away work that was not lost.
import type { Mutant } from '../mutants.ts';

const file = 'heal/decide.ts';

export const healMutants: Mutant[] = [
  {
    name: 'any other failure is the known fault',
    file,
    from: 'if (failure.cause !== nondeterminism)',
    to: "if (failure.cause === '')",
  },
  {
    name: 'nobody hears of another failure',
    file,
    from: 'attempt < standstillAttempts || failure === null',
    to: 'attempt < standstillAttempts || failure?.cause !== nondeterminism',
  },
  {
    name: 'the first failure is enough',
    file,
    from: 'attempt < standstillAttempts || failure === null',
    to: 'failure === null',
  },
  {
    name: 'any nondeterminism is the known one',
    file,
    from: '!failure.message.startsWith(violation)',
    to: '!failure.message.includes(violation)',
  },
  {
    name: 'a deploy of other code is the known fault',
    file,
    from: "writer.buildId === '' || writer.buildId !== failure.buildId",
    to: "writer.buildId === ''",
  },
  {
    name: 'code without a name is the same code',
    file,
    from: "writer.buildId === '' || writer.buildId !== failure.buildId",
    to: 'writer.buildId !== failure.buildId',
  },
  {
    name: 'a workflow task that was done in one is believed',
    file,
    from: '!(writer.hasUpdate || writer.isRepeated)',
    to: 'false',
  },
  {
    name: 'a repeated workflow task without an update is not believed',
    file,
    from: '!(writer.hasUpdate || writer.isRepeated)',
    to: '!writer.hasUpdate',
  },
  {
    name: 'it is reset without end',
    file,
    from: 'if (lately.length >= maxResetsADay)',
    to: 'if (lately.length > maxResetsADay)',
  },
  {
    name: 'resets of other workflows count',
    file,
    from: 'reset.workflowId === workflowId && nowMs',
    to: 'nowMs',
  },
  {
    name: 'resets are forgotten at once',
    file,
    from: '...resets.filter(({ atMs }) => nowMs - atMs < dayMs),',
    to: '',
  },
];
