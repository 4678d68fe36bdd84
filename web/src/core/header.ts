/** The JSON at the head of a page, as fovea/render/page_header.cc writes it. */

import type { HeadName } from './captions';
import type { RangeEnd } from './drawing';

/** 0: running text, 1: a chip (special tokens, bare space), 2: a further byte of the same glyph. */
export type ReadKind = 0 | 1 | 2;

export interface AxisInfo {
  name: string;
  /** Display form, with marks of spaces and joints. */
  labels: string[];
  /** The same without marks. */
  names: string[];
  /** Indices of positions that are no part of the input itself. */
  special: number[];
  /** What comes before a position in the running text, its own text, and how it is shown. */
  read: [string, string, ReadKind][];
  /** Pictures: the last rows * cols positions are a grid. */
  grid?: [number, number];
}

export interface MaskInfo {
  offset: number;
  behind: number | null;
  ahead: number | null;
  hiddenKeys?: number[];
  queryGroups?: number[];
  keyGroups?: number[];
}

export interface SiteInfo {
  site: string;
  kind: string;
  layer: number;
  /** The heads that the page holds. */
  heads: number[];
  allHeads: number;
  rows: number;
  cols: number;
  rowAxis: number;
  colAxis: number;
  mask: number;
  levels: number;
  /** The largest weight of each head in `heads`. */
  largest: number[];
}

export interface PageHeader {
  format: string;
  version: number;
  program: string;
  title: string;
  model: string;
  modelHash: string;
  encoding: { map: string; thumbnails: string; thumbnailSide: number };
  start: {
    site: number;
    head: HeadName | '';
    view: string;
    colors: string;
    token: number | null;
    column: boolean;
    /** What was asked for; left out: as suits the map. */
    of?: string;
    scale?: string;
    range?: [RangeEnd, RangeEnd];
  };
  sites: SiteInfo[];
  axes: AxisInfo[];
  masks: MaskInfo[];
  /** Width and height of what lies under the grids of axes, a PNG in the part fovea-picture. */
  picture?: [number, number];
  /** base64 of 256 * 3 bytes each. */
  colors: Record<string, string>;
}

/** Throws an Error in plain words if this is no page that this viewer can show. */
export function parseHeader(text: string): PageHeader {
  const header = JSON.parse(text) as PageHeader;
  if (header.format !== 'fovea-page' || header.version !== 1) {
    throw new Error(`this viewer reads fovea-page 1 but the file says ${header.format} ${header.version}`);
  }
  return header;
}
