/** For tests: the vectors that C++ wrote (tests/unit/render/page_codec_test.cc and page_scale_test.cc). */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { ColorRange, MapValue } from './drawing';
import type { MaskInfo } from './header';
import type { Curve } from './scale';

interface Golden {
  maps: {
    name: string;
    rows: number;
    cols: number;
    levels: number;
    mask: MaskInfo;
    packed: string;
    codes: number[];
    rowSums: number[];
    colSums: number[];
    thumbnail: number[];
  }[];
  colors: { name: string; table: string; levels: number; high: number; entries: [number, number, number, number][] }[];
  captions: { matrix: string; matrixMean: string; name: string; row: string; column: string };
}

interface Scales {
  axes: {
    colors: string;
    low: number;
    high: number;
    curve: Curve;
    timesEven: boolean;
    /** Value, place, red, green, blue, text. */
    values: [number, number, number, number, number, string][];
    ticks: Record<string, [number, string, boolean][]>;
  }[];
  drawings: {
    values: (number | null)[];
    drawings: {
      positions: number;
      of: MapValue | '';
      curve: Curve | '';
      range: ColorRange | null;
      drawnOf: MapValue;
      drawnCurve: Curve;
      low: number;
      high: number;
      below: boolean;
      above: boolean;
      note: string;
      name: string;
      meaning: string;
    }[];
  };
  tone: {
    table: number[];
    picture: [number, number, number][];
    ground: number[];
    /** Place, red, green, blue, cover. */
    tints: [number, number, number, number, number][];
    legend: number[];
    masses: { values: (number | null)[]; note: string }[];
  };
  maps: {
    name: string;
    rows: number;
    cols: number;
    levels: number;
    mask: MaskInfo;
    codes: number[];
    bins: { block: number; weight: (number | null)[]; timesEven: (number | null)[] }[];
  }[];
}

const folder = process.env['FOVEA_TEST_DATA'] ?? resolve(import.meta.dirname, '../../../tests/data');
const read = (name: string) => JSON.parse(readFileSync(resolve(folder, 'page', name), 'utf8')) as unknown;
export const golden = read('core.json') as Golden;
export const scales = read('scales.json') as Scales;
