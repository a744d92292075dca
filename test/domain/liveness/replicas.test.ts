// For how long the API has been listening, from the rows of its replicas.
import { describe, expect, it } from 'vitest';

import {
  heardAgainWithinMs,
  isSilenceKnown,
  listeningOfAllMs,
  replicaEndedAfterMs,
  type ReplicaRow,
} from '../../../domain/liveness/replicas.ts';

const row = (replica: string, wroteAgoMs: number, sinceAgoMs: number): ReplicaRow => ({
  ...{ replica, wroteAgoMs, sinceAgoMs },
});

describe('the listening of the API', () => {
  it('is nothing while no replica writes', () => {
    expect(listeningOfAllMs([])).toBe(0);
    expect(listeningOfAllMs([row('a', 1_800_000, 7_200_000)])).toBe(0);
  });

  it('lasts as long as that of the replica that began last', () => {
    expect(listeningOfAllMs([row('a', 5_000, 7_200_000), row('b', 9_000, 60_000)])).toBe(60_000);
  });

  it('is nothing while one replica may still hear agents and cannot write', () => {
    expect(listeningOfAllMs([row('a', 5_000, 7_200_000), row('b', 40_000, 7_200_000)])).toBe(0);
  });

  it('goes on without a replica that ended long ago', () => {
    expect(listeningOfAllMs([row('a', 5_000, 7_200_000), row('b', replicaEndedAfterMs, 9_000_000)])).toBe(7_200_000);
  });

  it('is not negative when the clock of the database was set back', () => {
    expect(listeningOfAllMs([row('a', -5_000, -5_000)])).toBe(0);
  });
});

describe('a silence', () => {
  it('counts when the API has been listening for all of it', () => {
    expect(isSilenceKnown(120_000, 119_999)).toBe(false);
    expect(isSilenceKnown(120_000, 120_000)).toBe(true);
  });

  it('that is short counts only once an agent whose call hung during an outage would have been heard again', () => {
    expect(isSilenceKnown(6_000, heardAgainWithinMs - 1)).toBe(false);
    expect(isSilenceKnown(6_000, heardAgainWithinMs)).toBe(true);
  });
});
