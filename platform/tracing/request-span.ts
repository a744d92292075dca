// The API's description of a request for tracing. No OpenTelemetry import here, because this file is always loaded.

export interface RequestSpan {
  /** `POST /v1/jobs`, by pattern. */
  name: string;
  attributes: Readonly<Record<string, string>>;
  /** Contains the caller's own trace, if it sent one. */
  headers: Readonly<Record<string, string>>;
}

export interface RequestEnd {
  status: number;
  about: Readonly<Record<string, string | number | undefined>>;
}

export type RequestTracer = (span: RequestSpan, run: () => Promise<RequestEnd>) => Promise<void>;
