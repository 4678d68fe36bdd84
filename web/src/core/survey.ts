/** What stands beside a long map, from one pass over all its weights. */
import { Api, type MapAt } from './api';

export interface Survey {
  sinks: { column: number; share: number }[];
  /** Columns that receive most, sinks left out. */
  receivers: { column: number; share: number }[];
  /** Shares of all weight, and what even attention would give, from each distance on. */
  by_distance: { from: number; share: number; even: number }[];
}

/** A pass over a longer map takes seconds; it is shown without. */
export const SURVEY_MOST = 20_000;

export function fetchSurvey(api: Api, map: MapAt, signal: AbortSignal): Promise<Survey> {
  return api.json<Survey>(Api.ofHead(map, 'survey'), signal);
}

/** Above the columns stand those that receive so much, this far apart. */
export function namedReceivers({ receivers }: Survey, columns: number, apart: number, most = 8): number[] {
  const kept: number[] = [];
  for (const { column, share } of receivers) {
    if (share < Math.max(0.002, 4 / columns) || kept.length === most) break;
    if (kept.every((each) => Math.abs(each - column) >= apart)) kept.push(column);
  }
  return kept.sort((a, b) => a - b);
}
