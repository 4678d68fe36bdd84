/** For tests: the vectors that C++ wrote (tests/unit/render/page_codec_test.cc). */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import type { MaskInfo } from './header';

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

const folder = process.env['FOVEA_TEST_DATA'] ?? resolve(import.meta.dirname, '../../../tests/data');
export const golden = JSON.parse(readFileSync(resolve(folder, 'page/core.json'), 'utf8')) as Golden;
