// Why a Python environment was not built, worded so that the user knows what to change. Quotes child processes' output,
// shortened, and nothing of their environment.

/**
 * PYTHON: the interpreter is missing or too old. REQUIREMENT: a requirement cannot be installed. TOOLS: uv is unavailable.
 * INSTALL: the network or the disk failed, so a retry may help.
 */
export type EnvironmentProblem = 'PYTHON' | 'REQUIREMENT' | 'TOOLS' | 'INSTALL';

export class EnvironmentError extends Error {
  readonly code: EnvironmentProblem;
  /** The failing requirements, as given; empty when unknown. */
  readonly requirements: readonly string[];

  constructor(code: EnvironmentProblem, message: string, details: { requirements?: string[]; cause?: unknown } = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'EnvironmentError';
    this.code = code;
    this.requirements = details.requirements ?? [];
  }
}
