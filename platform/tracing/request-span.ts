// What the API says about a request when tracing is on. No OpenTelemetry here: this file is loaded always.

export interface RequestSpan {
  /** `POST /v1/jobs`, by pattern. */
  name: string;
  attributes: Readonly<Record<string, string>>;
  /** The caller's own trace, if it sent one. */
  headers: Readonly<Record<string, string>>;
}

export interface RequestEnd {
  status: number;
  about: Readonly<Record<string, string | number | undefined>>;
}

export type RequestTracer = (span: RequestSpan, run: () => Promise<RequestEnd>) => Promise<void>;
