import { describe, expect, it } from 'vitest';
import { namedReceivers } from './survey';

describe('columns that are named', () => {
  it('receive enough and stand apart, the strongest first', () => {
    const receivers = [[500, 0.02], [503, 0.019], [40, 0.01], [900, 0.0019]].map(([column, share]) => ({ column: column as number, share: share as number }));
    expect(namedReceivers({ sinks: [], receivers, by_distance: [] }, 7639, 20)).toEqual([40, 500]);
    expect(namedReceivers({ sinks: [], receivers, by_distance: [] }, 7639, 1)).toEqual([40, 500, 503]);
    expect(namedReceivers({ sinks: [], receivers, by_distance: [] }, 100, 1)).toEqual([]);
    expect(namedReceivers({ sinks: [], receivers, by_distance: [] }, 7639, 1, 1)).toEqual([500]);
  });
});
