/** What the views of a text show: the map of the chosen head, word by word, and what lies under the pointer and the pin. */
import { LEAST_SHADE, shadeOf } from '../../core/shade';
import { mergedMap, wordAt, wordsOf, type Word } from '../../core/words_map';
import { lineOfMap, type Label, type Run, type Site, type WholeMap } from '../../core/run';
import { largest } from '../../core/ranking';
import type { Color } from '../../core/colors';
import type { Model } from '../model.svelte';
import { tokenColor } from '../theme';

/** Up to so many tokens a side maps are there whole. */
export const WHOLE = 256;
/** Up to so many, Read shows every head of the layer too. */
export const OTHERS = 64;

export class TextState {
  labels = $state.raw<{ rows: Label[]; cols: Label[] } | null>(null);
  /** By head of the layer. */
  maps = $state.raw<Map<number | string, WholeMap>>(new Map());
  /** Of texts that are too long for whole maps: the lines of the pins. */
  line = $state.raw<{ key: string; values: Float32Array } | null>(null);
  shades = $state.raw<Color[]>([]);
  greys = $state.raw<Color[]>([]);
  private loading = '';

  constructor(private readonly model: Model) {}

  get run(): Run {
    return this.model.run as Run;
  }

  get site(): Site {
    return this.run.site(this.model.place.site);
  }

  get small(): boolean {
    return Math.max(this.site.rows, this.site.cols) <= WHOLE;
  }

  readonly rowWords = $derived.by((): Word[] => wordsOf(this.labels?.rows ?? [], this.model.place.words));
  readonly colWords = $derived.by((): Word[] => wordsOf(this.labels?.cols ?? [], this.model.place.words));
  /** The words that Read shows: rows look, columns are looked at; of one text both are the same. */
  readonly sameAxis = $derived.by(() => this.model.run !== null && this.site.rowAxis === this.site.colAxis);

  readonly special = $derived.by((): number[] => this.colWords.flatMap((word, at) => (word.special ? [at] : [])));
  readonly specialNames = $derived.by(() => [...new Set(this.colWords.filter(({ special }) => special).map(({ name }) => name))].join(', '));

  readonly map = $derived.by((): WholeMap | null => {
    const map = this.maps.get(this.model.place.head);
    return map && this.labels ? mergedMap(map, this.rowWords, this.colWords) : null;
  });

  merged(head: number | string): WholeMap | null {
    const map = this.maps.get(head);
    return map && this.labels ? mergedMap(map, this.rowWords, this.colWords) : null;
  }

  readonly pinRow = $derived.by(() => wordAt(this.rowWords, this.model.place.row));
  readonly pinCol = $derived.by(() => wordAt(this.colWords, this.model.place.col));
  readonly hoverRow = $derived.by(() => wordAt(this.rowWords, this.model.hover?.row ?? null));
  readonly hoverCol = $derived.by(() => wordAt(this.colWords, this.model.hover?.col ?? null));

  /** The word whose line is shown: what is pointed at, else the pin. */
  readonly chosen = $derived.by((): number | null => {
    const { column } = this.model.place;
    return (column ? (this.hoverCol ?? this.pinCol) : (this.hoverRow ?? this.pinRow)) ?? null;
  });

  /** Further pins as words. */
  readonly more = $derived.by((): number[] => this.model.place.more.map((token) => wordAt(this.model.place.column ? this.colWords : this.rowWords, token)).filter((word) => word !== null));

  /** The weights of the chosen line, those of further pins added. */
  readonly shown = $derived.by((): Float32Array | null => this.lineFor(this.map, this.chosen));

  lineFor(map: WholeMap | null, chosen: number | null): Float32Array | null {
    const { column } = this.model.place;
    if (chosen === null) return null;
    if (map) {
      const pins = this.model.hover ? [chosen] : [chosen, ...this.more.filter((each) => each !== chosen)];
      return pins.map((index) => lineOfMap(map, index, column)).reduce((sum, line) => sum.map((weight, at) => weight + (line[at] as number)));
    }
    const words = column ? this.colWords : this.rowWords;
    const word = words[chosen];
    if (!word || this.line?.key !== this.lineKey(word.begin)) return null;
    const others = column ? this.rowWords : this.colWords;
    const values = this.line.values;
    return Float32Array.from(others, ({ begin, end }) => {
      let sum = Number.NaN;
      for (let i = begin; i < end; ++i) if (!Number.isNaN(values[i])) sum = (Number.isNaN(sum) ? 0 : sum) + (values[i] as number);
      return sum;
    });
  }

  private lineKey(token: number): string {
    const { layer, head, column, site } = this.model.place;
    return `${this.run.info.hash} ${site} ${layer} ${head} ${column} ${token}`;
  }

  /** The line of a word of a long text. */
  needLine(chosen: number | null): void {
    if (chosen === null || this.small) return;
    const { layer, head, column } = this.model.place;
    const token = (column ? this.colWords : this.rowWords)[chosen]?.begin;
    if (token === undefined) return;
    const key = this.lineKey(token);
    if (this.line?.key === key) return;
    this.run.line(this.run.at(this.site, layer, head), token, column).then((values) => {
      if (key === this.lineKey(token)) this.line = { key, values };
    }, (error: unknown) => this.model.failed(error));
  }

  readonly sum = $derived.by(() => (this.shown ? this.shown.reduce((sum, weight) => sum + (weight || 0), 0) : 0));
  readonly tops = $derived.by(() => (this.shown ? largest(this.shown, 10).filter(({ weight }) => weight > 0) : []));

  /** Asks for names and for the maps of the layer, the chosen head first. */
  load(): void {
    const { layer, head } = this.model.place;
    const { run, site } = this;
    const key = `${run.info.hash} ${site.name} ${layer}`;
    if (key !== this.loading) this.maps = new Map();
    this.loading = key;
    const rows = run.labels(site, 'row');
    const cols = run.labels(site, 'column');
    Promise.all([rows.need(0, rows.count), cols.need(0, cols.count)]).then(() => {
      const all = (labels: typeof rows) => Array.from({ length: labels.count }, (_, i) => labels.at(i) as Label);
      if (run === this.model.run && (this.labels?.rows.length !== rows.count || this.labels.rows[0] !== rows.at(0) || this.labels.cols[0] !== cols.at(0))) this.labels = { rows: all(rows), cols: all(cols) };
    }, (error: unknown) => this.model.failed(error, () => this.load()));
    if (!this.small) {
      this.model.status = { exact: true, done: 0, all: 0, ms: 0, notes: [`${site.cols} tokens`], drawn: 'CPU' };
      return;
    }
    const began = performance.now();
    const heads = [head, ...Array.from({ length: site.heads }, (_, i) => i).filter((each) => each !== head)];
    const found = new Map(this.maps);
    const next = async (): Promise<void> => {
      const each = heads.shift();
      if (each === undefined || this.loading !== key) return;
      if (!found.has(each)) {
        found.set(each, await run.whole(run.at(site, layer, each)));
        if (this.loading === key && (each === this.model.place.head || heads.length === 0 || found.size % 4 === 0)) this.maps = new Map(found);
      }
      await next();
    };
    Promise.all([next(), next(), next(), next()]).then(() => {
      if (this.loading !== key) return;
      this.maps = new Map(found);
      this.model.status = { exact: true, done: 0, all: 0, ms: performance.now() - began, notes: [`${site.heads} maps`, `${site.cols} tokens`], drawn: 'CPU' };
    }, (error: unknown) => this.model.failed(error, () => this.load()));
  }

  readColors(): void {
    this.shades = [0, 1, 2, 3, 4].map((i) => tokenColor(`--shade-${i}`));
    this.greys = this.model.dark ? [tokenColor('--shade-0'), [106, 108, 116], [196, 198, 206]] : [[255, 255, 255], [150, 150, 158], [60, 60, 68]];
  }

  /** Ground and letters of a word with this weight. Roots make the small ones show. */
  shade(weight: number, special: boolean): { ground: string; ink: string } | null {
    if (special && this.model.place.hideSinks) return null;
    const place = this.model.place.curve === 'sqrt' && weight >= LEAST_SHADE ? Math.sqrt(weight) : weight;
    return shadeOf(special ? this.greys : this.shades, Math.min(1, place));
  }

  point(row: number | null, col: number | null): void {
    const r = row === null ? null : (this.rowWords[row]?.begin ?? null);
    const c = col === null ? null : (this.colWords[col]?.begin ?? null);
    this.model.hover = r === null && c === null ? null : { row: r ?? -1, col: c ?? -1 };
  }

  /** Pins a word of the line that is shown, with Shift one more. The pair's other half: what gets most, or gives most. */
  async pin(word: number, add: boolean): Promise<void> {
    const { column, more } = this.model.place;
    const words = column ? this.colWords : this.rowWords;
    const token = words[word]?.begin;
    if (token === undefined) return;
    if (add && (column ? this.pinCol : this.pinRow) !== null) {
      this.model.go({ more: more.includes(token) ? more.filter((each) => each !== token) : [...more, token] });
      return;
    }
    const { run, site, model: { place: { layer, head } } } = this;
    if (!this.map) await run.line(run.at(site, layer, head), token, column).then((values) => (this.line = { key: this.lineKey(token), values }), (error: unknown) => this.model.failed(error));
    const line = this.lineFor(this.map, word);
    const others = column ? this.rowWords : this.colWords;
    const best = line && largest(line.map((weight, at) => (others[at]?.special ? Number.NaN : weight)), 1)[0];
    const other = best ? (others[best.index]?.begin ?? null) : null;
    this.model.go(column ? { col: token, row: other, more: [] } : { row: token, col: other, more: [] });
  }

  pinCell(row: number, col: number): void {
    this.model.go({ row: this.rowWords[row]?.begin ?? null, col: this.colWords[col]?.begin ?? null, more: [] });
  }
}
