// The stages of building an environment, with their times.
/**
 * 'wait' only when another process or instance already builds the same environment, 'download' only with package files. 'fetch'
 * and 'unpack': another instance has built it. 'pack': for other instances. 'modules': those beside the user's script.
 */
export type StageName =
  | 'tools'
  | 'wait'
  | 'download'
  | 'install'
  | 'compile'
  | 'modules'
  | 'fetch'
  | 'unpack'
  | 'pack'
  | 'ready';

/** Display texts. 'ready' is not shown. */
const stageTexts: Readonly<Record<StageName, string>> = {
  tools: 'getting the tools',
  wait: 'another instance makes it',
  download: 'downloading files',
  install: 'installing packages',
  compile: 'compiling',
  modules: 'adding modules',
  fetch: 'downloading the archive',
  unpack: 'unpacking the archive',
  pack: 'packing it for other instances',
  ready: 'ready',
};

/** `builder` is the stage of the awaited instance, where known. */
export const stageText = (name: StageName, builder: StageName | null = null): string =>
  builder === null ? stageTexts[name] : `${stageTexts[name]}, now ${stageTexts[builder]}`;

export interface Stage {
  name: StageName;
  durationMs: number;
}

/** `builder`: see `stageText`. */
export type OnStage = (name: StageName, builder?: StageName | null) => void;

export interface StageClock {
  enter: OnStage;
  end: () => Stage[];
}

export function stageClock(onStage: OnStage | undefined): StageClock {
  const stages: Stage[] = [];
  let current: { name: StageName; startedMs: number } | null = null;
  const leave = (): void => {
    if (current === null) return;
    stages.push({ name: current.name, durationMs: Math.round(performance.now() - current.startedMs) });
    current = null;
  };
  return {
    enter: (name, builder = null) => {
      leave();
      current = { name, startedMs: performance.now() };
      onStage?.(name, builder);
    },
    end: () => {
      leave();
      return stages;
    },
  };
}
