// CSV that a spreadsheet reads as it is meant.
import { describe, expect, it } from 'vitest';

import { costsCsv } from '../../../domain/cost/csv.ts';

const amounts = { dollars: 1.255, instanceHours: 13.07, instances: 3, dollarsPerHour: 0.096 };
const rowOf = (key: string, name: string | null = null) =>
  costsCsv({ by: 'tag', items: [{ key, name, ...amounts }] }).slice(
    'tag,name,instances,instance_hours,dollars,dollars_per_hour_now\n'.length,
  );

describe('costs as CSV', () => {
  it('have a line for each group, with amounts that are not rounded', () => {
    expect(costsCsv({ by: 'user', items: [] })).toBe('user,name,instances,instance_hours,dollars,dollars_per_hour_now');
    expect(rowOf('7', 'train')).toBe('7,train,3,13.07,1.255,0.096');
    expect(rowOf('')).toBe(',,3,13.07,1.255,0.096');
  });

  it('quote what would be several fields or lines', () => {
    expect(rowOf('a,b', 'say "x"\ny')).toBe('"a,b","say ""x""\ny",3,13.07,1.255,0.096');
  });

  it('have no field that is a formula', () => {
    for (const start of ['=', '+', '-', '@', '\t']) expect(rowOf(`${start}1+1`)).toMatch(/^'[=+\-@\t]1\+1,/);
    expect(rowOf('\r=1')).toMatch(/^"'\r=1",/);
    expect(rowOf('team=ml')).toMatch(/^team=ml,/);
  });
});
