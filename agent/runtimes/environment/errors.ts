// Why a Python environment was not built, in words that say to the user what to change. Child processes' own words
// are quoted, shortened; nothing of their environment is.

/**
 * PYTHON: the interpreter is missing or too old. REQUIREMENT: what was asked for cannot be installed. TOOLS: uv is
 * unavailable. INSTALL: neither's fault (network, disk), so that trying again may help.
 */
export type EnvironmentProblem = 'PYTHON' | 'REQUIREMENT' | 'TOOLS' | 'INSTALL';

export class EnvironmentError extends Error {
  readonly code: EnvironmentProblem;
  /** The requirements at fault, as they were given; empty when that is not known. */
  readonly requirements: readonly string[];

  constructor(code: EnvironmentProblem, message: string, details: { requirements?: string[]; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'EnvironmentError';
    this.code = code;
    this.requirements = details.requirements ?? [];
  }
}
