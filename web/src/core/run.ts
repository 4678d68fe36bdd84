/** A run as the page knows it: its sites, the names on its axes, and what was asked of it so far. */
import { Api, type MapAt } from './api';
import type { MaskInfo } from './header';
import { keyCounter } from './mask';
import { readTile, type Tile } from './tiles/tile';
import { decode16 } from './tiles/code';

export interface Label {
  id: number;
  display: string;
  /** Without marks. */
  name: string;
  special: boolean;
  /** "text", "special", "patch". */
  kind: string;
  /** Begins a new word; what does not is joined to the one before. */
  begins: boolean;
  /** The word it is a part of; -1: none. */
  group: number;
  /** Stands in the running text before it. */
  before: string;
  /** As it stands in the running text. */
  text: string;
}

export interface Site {
  name: string;
  /** For people: "self-attention". */
  words: string;
  layers: number[];
  heads: number;
  rows: number;
  cols: number;
  /** What rows may see, of each layer. */
  visible: MaskInfo[];
  rowAxis: string;
  colAxis: string;
  /** Columns that are no part of the input itself. */
  special: number[];
  /** Columns that are sinks in some map, as far as a few rows tell. */
  sinks: number[];
  /** What may be shown of it. */
  of: string[];
}

export function maskOfLayer(site: Site, layer: number): MaskInfo {
  return site.visible[Math.max(0, site.layers.indexOf(layer))] ?? { offset: 0, behind: null, ahead: null };
}

/** Whether rows see all up to their own place and nothing else. */
export function isCausal({ offset, behind, ahead, hiddenKeys, keyGroups }: MaskInfo): boolean {
  return offset === 0 && behind === null && ahead === 0 && !hiddenKeys && !keyGroups;
}

export interface RunInfo {
  hash: string;
  model: string;
  input: string;
  sites: Site[];
  /** Texts by the axis that counts their tokens. */
  sources: Record<string, string>;
  sort: string;
}

const CHUNK = 2048;

/** Names on an axis, asked for piece by piece. */
export class Labels {
  private readonly chunks = new Map<number, Label[]>();
  private readonly asked = new Map<number, Promise<void>>();

  constructor(
    readonly count: number,
    private readonly load: (from: number, count: number) => Promise<Label[]>,
    private readonly changed: () => void,
  ) {}

  at(index: number): Label | undefined {
    return this.chunks.get(Math.floor(index / CHUNK))?.[index % CHUNK];
  }

  /** Its name, or its number while that is not known. */
  name(index: number): string {
    return this.at(index)?.name ?? String(index);
  }

  async need(from: number, end: number): Promise<void> {
    const pieces: Promise<void>[] = [];
    for (let chunk = Math.max(0, Math.floor(from / CHUNK)); chunk * CHUNK < Math.min(end, this.count); ++chunk) {
      let asked = this.asked.get(chunk);
      if (!asked) {
        asked = this.load(chunk * CHUNK, Math.min(CHUNK, this.count - chunk * CHUNK)).then((labels) => {
          this.chunks.set(chunk, labels);
          this.changed();
        });
        asked.catch(() => this.asked.delete(chunk));
        this.asked.set(chunk, asked);
      }
      pieces.push(asked);
    }
    await Promise.all(pieces);
  }

  /** The next position whose name has the text in it, from `from` on and round; -1 if there is none. */
  async find(text: string, from: number, back: boolean): Promise<number> {
    const wanted = text.toLowerCase();
    for (let i = 0; i < this.count; ++i) {
      const index = (((back ? from - i : from + i) % this.count) + this.count) % this.count;
      if (!this.at(index)) await this.need(index, index + 1);
      if (this.at(index)?.name.toLowerCase().includes(wanted)) return index;
    }
    return -1;
  }
}

/** Small maps whole, as numbers: of up to a tile. */
export interface WholeMap {
  rows: number;
  cols: number;
  /** NaN where the mask forbids. */
  weights: Float32Array;
  rowSums: Float64Array;
  colSums: Float64Array;
}

export function wholeMap(tile: Tile): WholeMap {
  const { height: rows, width: cols } = tile;
  const weights = tile.values ?? Float32Array.from(tile.codes, (code) => decode16(code, tile.top));
  const rowSums = new Float64Array(rows);
  const colSums = new Float64Array(cols);
  for (let i = 0; i < rows; ++i) {
    for (let j = 0; j < cols; ++j) {
      const weight = weights[i * cols + j] as number;
      if (Number.isNaN(weight)) continue;
      rowSums[i] = (rowSums[i] as number) + weight;
      colSums[j] = (colSums[j] as number) + weight;
    }
  }
  return { rows, cols, weights, rowSums, colSums };
}

export function lineOfMap({ rows, cols, weights }: WholeMap, index: number, column: boolean): Float32Array {
  return column ? Float32Array.from({ length: rows }, (_, i) => weights[i * cols + index] as number) : weights.slice(index * cols, (index + 1) * cols);
}

/** Keeps the last few answers of a kind. */
class Kept<T> {
  private readonly answers = new Map<string, Promise<T>>();

  constructor(private readonly most: number) {}

  get(key: string, make: () => Promise<T>): Promise<T> {
    const found = this.answers.get(key) ?? make();
    this.answers.delete(key);
    this.answers.set(key, found);
    found.catch(() => this.answers.delete(key));
    if (this.answers.size > this.most) this.answers.delete(this.answers.keys().next().value as string);
    return found;
  }
}

export class Run {
  private readonly lines = new Kept<Float32Array<ArrayBuffer>>(64);
  private readonly maps = new Kept<WholeMap>(512);
  private readonly sprites = new Kept<Tile>(4);
  private readonly axes = new Map<string, Labels>();

  constructor(
    readonly api: Api,
    readonly info: RunInfo,
    private readonly labelsOf: (site: string, axis: 'row' | 'column', from: number, count: number) => Promise<Label[]>,
    private readonly changed: () => void,
  ) {}

  site(name: string): Site {
    return this.info.sites.find((each) => each.name === name) ?? (this.info.sites[0] as Site);
  }

  labels(site: Site, axis: 'row' | 'column'): Labels {
    const count = axis === 'row' ? site.rows : site.cols;
    const key = `${axis === 'row' ? site.rowAxis : site.colAxis} ${count}`;
    let labels = this.axes.get(key);
    if (!labels) {
      labels = new Labels(count, (from, n) => this.labelsOf(site.name, axis, from, n), this.changed);
      this.axes.set(key, labels);
    }
    return labels;
  }

  at(site: Site, layer: number, head: MapAt['head']): MapAt {
    return { run: this.info.hash, site: site.name, layer, head };
  }

  /** The weights of a row or column, exactly. */
  line(map: MapAt, index: number, column: boolean): Promise<Float32Array<ArrayBuffer>> {
    return this.lines.get(`${Api.ofHead(map, 'line')} ${index} ${column}`, async () => {
      const line = await this.api.line(map, index, column);
      // A forbidden weight comes as 0.
      const site = this.site(map.site);
      const count = keyCounter(maskOfLayer(site, map.layer), site.cols);
      for (let i = 0; i < line.length; ++i) if (line[i] === 0 && (column ? count(i, index, index + 1) : count(index, i, i + 1)) === 0) line[i] = Number.NaN;
      return line;
    });
  }

  /** All weights of a map that is no larger than a tile. */
  whole(map: MapAt): Promise<WholeMap> {
    const choice = { level: 0, y: 0, x: 0, agg: 'mean', of: 'weight', encoding: 'F32' } as const;
    return this.maps.get(Api.ofHead(map, 'whole'), async () => wholeMap(await this.api.tile(map, choice)));
  }

  /** All heads as small maps in one picture: layers down, heads across. */
  sprite(site: Site, size: number): Promise<Tile> {
    const path = `${Api.ofRun({ run: this.info.hash, site: site.name })}/sprite?size=${size}&enc=L8`;
    return this.sprites.get(`${path}`, async () => readTile(await this.api.bytes(path)));
  }
}
