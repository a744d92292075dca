// The agent's input for the preparation of containers.
import type { Boot } from '../../lifecycle/boot.ts';
import type { Log } from '../../logs/log.ts';
import type { PrepareInput } from '../environment/prepare.ts';

export interface ContainerInput extends Pick<
  PrepareInput,
  'instance' | 'directory' | 'environment' | 'stopping' | 'user' | 'registryLogin' | 'onStage' | 'needsDask'
> {
  boot: Pick<Boot, 'powerOff'>;
  log: Pick<Log, 'write'>;
}
